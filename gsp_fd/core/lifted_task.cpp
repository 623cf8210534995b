#include "lifted_task.h"

#include <algorithm>

namespace gsp {

void LiftedTask::check_literal(const Literal &literal, size_t parameters, const std::vector<int32_t> &arity) const {
    if (literal.predicate < 0 || static_cast<size_t>(literal.predicate) >= arity.size() ||
        literal.args.size() != static_cast<size_t>(arity[literal.predicate]) || literal.args.size() > max_parameters)
        throw InputError("a literal has an unknown predicate or a wrong number of arguments");
    check_terms(literal.args, parameters);
}

void LiftedTask::check_terms(const std::vector<int32_t> &terms, size_t parameters) const {
    for (int32_t term : terms)
        if (term >= static_cast<int32_t>(parameters) || -(term + 1) >= static_cast<int32_t>(objects.size()))
            throw InputError("a literal has an argument out of range");
}

void LiftedTask::finish() {
    is_member.assign(type_members.size(), std::vector<char>(objects.size(), 0));
    for (size_t t = 0; t < type_members.size(); ++t)
        for (int32_t o : type_members[t]) is_member[t].at(o) = 1;
    if (arities.size() != predicates.size() || fluent.size() != predicates.size())
        throw InputError("the tables of predicates have different lengths");
    std::vector<int32_t> function_arity;
    for (auto &table : function_values) {
        std::sort(table.begin(), table.end());
        function_arity.push_back(table.empty() ? 0 : static_cast<int32_t>(table[0].first.size()));
    }
    check_axioms();
    strips = axioms.empty();
    conditional = false;
    unit_cost = true;
    min_cost = schemas.empty() ? 1 : INT32_MAX;
    for (const Schema &schema : schemas) {
        conditional = conditional || !schema.conditional.empty();
        check_rule(schema, "action " + schema.name);
        for (const auto *part : {&schema.alternatives, &schema.conditional})
            for (const Rule &rule : *part) {
                if (rule.parameters.size() < schema.parameters.size()) throw InputError("a part of an action lacks parameters");
                check_rule(rule, "action " + schema.name);
                strips = false;
            }
        for (const Literal &term : schema.cost_terms) check_literal(term, schema.parameters.size(), function_arity);
        unit_cost = unit_cost && (!metric || (schema.cost_terms.empty() && schema.cost == 1));
        min_cost = std::min(min_cost, checked_min_cost(schema));
    }
    for (const auto *part : {&init, &goal_positive, &goal_negative})
        for (const GroundAtom &atom : *part) {
            check_literal({atom.predicate, {}}, 0, std::vector<int32_t>(predicates.size(), 0));
            if (atom.args.size() != static_cast<size_t>(arities[atom.predicate])) throw InputError("wrong number of arguments");
            for (int32_t o : atom.args) is_member.at(0).at(o);
        }
    for (const GroundAtom &atom : init)
        if (stratum[atom.predicate] >= 0) throw InputError("a derived atom is given in the initial state");
}

void LiftedTask::check_rule(const Rule &rule, const std::string &name) const {
    if (rule.positive.size() > max_preconditions || rule.parameters.size() > max_parameters)
        throw InputError(name + " is too large for the lifted engine");
    for (int32_t type : rule.parameters)
        if (type < 0 || static_cast<size_t>(type) >= type_members.size()) throw InputError("unknown parameter type");
    for (const auto *part : {&rule.positive, &rule.negative, &rule.add, &rule.del})
        for (const Literal &literal : *part) check_literal(literal, rule.parameters.size(), arities);
    for (const auto *part : {&rule.equal, &rule.unequal})
        for (auto [a, b] : *part) check_terms({a, b}, rule.parameters.size());
}

void LiftedTask::check_axioms() {
    stratum.assign(predicates.size(), -1);
    stratified = true;
    for (size_t s = 0; s < axioms.size(); ++s)
        for (const Rule &rule : axioms[s]) {
            if (rule.add.size() != 1 || !rule.del.empty()) throw InputError("an axiom derives exactly one literal");
            check_rule(rule, "a derived predicate");
            int32_t &place = stratum[rule.add[0].predicate];
            if (!fluent[rule.add[0].predicate] || (place >= 0 && place != static_cast<int32_t>(s)))
                throw InputError("a derived predicate is static or in two strata");
            place = static_cast<int32_t>(s);
        }
    for (size_t s = 0; s < axioms.size(); ++s)
        for (const Rule &rule : axioms[s]) {
            for (const auto *part : {&rule.positive, &rule.negative})
                for (const Literal &literal : *part)
                    if (stratum[literal.predicate] > static_cast<int32_t>(s)) throw InputError("the strata are not in order");
            for (const Literal &literal : rule.negative)
                if (stratum[literal.predicate] == static_cast<int32_t>(s)) stratified = false;
        }
}

/// The least cost of an action of a schema; InputError if some cost is none.
int32_t LiftedTask::checked_min_cost(const Schema &schema) const {
    if (!metric) return 1;
    int64_t least = schema.cost, most = schema.cost;
    bool negative = schema.cost < 0;
    for (const Literal &term : schema.cost_terms) {
        int32_t smallest = INT32_MAX, largest = 0;
        for (const auto &[args, value] : function_values[term.predicate]) {
            smallest = std::min(smallest, value);
            largest = std::max(largest, value);
        }
        negative = negative || smallest < 0;
        least += smallest == INT32_MAX ? 0 : smallest;
        most += largest;
    }
    if (negative || most > INT32_MAX)
        throw InputError("the costs of action " + schema.name + " are not all from 0 to " + std::to_string(INT32_MAX));
    return static_cast<int32_t>(least);
}

int32_t LiftedTask::cost(const Schema &schema, const int32_t *args) const {
    if (!metric) return 1;
    int64_t total = schema.cost;
    std::vector<int32_t> key;
    for (const Literal &term : schema.cost_terms) {
        key.clear();
        for (int32_t t : term.args) key.push_back(ground_term(t, args));
        const auto &table = function_values[term.predicate];
        auto it = std::lower_bound(table.begin(), table.end(), key,
                                   [](const auto &entry, const auto &wanted) { return entry.first < wanted; });
        if (it == table.end() || it->first != key)
            throw InputError("the cost of " + schema.name + " is not given in the initial state for all its arguments");
        total += it->second;
    }
    return static_cast<int32_t>(total);
}

std::string LiftedTask::action_name(const int32_t *tuple, size_t count) const {
    std::string name = schemas[tuple[0]].name;
    for (size_t i = 1; i < count; ++i) name += " " + objects[tuple[i]];
    return name;
}

std::string LiftedTask::atom_name(int32_t predicate, const int32_t *args) const {
    std::string name = predicates[predicate] + "(";
    for (int32_t i = 0; i < arities[predicate]; ++i) name += (i ? ", " : "") + objects[args[i]];
    return name + ")";
}

}  // namespace gsp
