// The lifted task as it is read: objects, predicates, schemas, initial state and goal.
#pragma once

#include <algorithm>

#include "common.h"

namespace gsp {

/// Arguments: >= 0 a parameter of the schema, < 0 the object -(o + 1).
struct Literal {
    int32_t predicate;
    std::vector<int32_t> args;
};

/// A conjunction of conditions over parameters, and literals that become true or false where it holds.
struct Rule {
    std::vector<int32_t> parameters;  // types
    std::vector<Literal> positive, negative;
    std::vector<std::pair<int32_t, int32_t>> equal, unequal;
    std::vector<Literal> add, del;
};

/// An action schema: the preconditions and effects of every action of it, and where those are not all, the rest.
struct Schema : Rule {
    std::string name;
    int32_t cost = 1;
    std::vector<Literal> cost_terms;  // `predicate` is a function here
    /// Complete preconditions of which one must hold; their parameters are those of the schema, then witnesses. If there are
    /// none, the preconditions are those of the schema itself, otherwise that is what all alternatives share.
    std::vector<Rule> alternatives;
    /// Effects under conditions, for all values of the parameters after those of the schema.
    std::vector<Rule> conditional;
};

struct GroundAtom {
    int32_t predicate;
    std::vector<int32_t> args;
    bool operator<(const GroundAtom &o) const { return std::tie(predicate, args) < std::tie(o.predicate, o.args); }
};

struct LiftedTask {
    std::vector<std::string> objects;
    std::vector<std::vector<int32_t>> type_members;
    std::vector<std::string> predicates;
    std::vector<int32_t> arities;
    std::vector<char> fluent;
    std::vector<Schema> schemas;
    /// Rules of derived predicates, each with one added literal, stratum by stratum: negative literals are of earlier strata, or
    /// where the predicates are not stratified, of the same one.
    std::vector<std::vector<Rule>> axioms;
    std::vector<GroundAtom> init, goal_positive, goal_negative;
    std::vector<std::vector<std::pair<std::vector<int32_t>, int32_t>>> function_values;  // per function, sorted by arguments
    bool metric = false;

    static constexpr size_t max_preconditions = 64, max_parameters = 64;

    /// Checks every index and derives the tables below.
    void finish();
    std::vector<std::vector<char>> is_member;  // [type][object]
    std::vector<int32_t> stratum;              // [predicate], -1 for those that no axiom derives
    bool stratified = true;                    // no rule negates a predicate of its own stratum
    bool strips = true;                        // no alternatives, conditional effects or axioms
    bool conditional = false;                  // some schema has conditional effects
    bool unit_cost = true;
    int32_t min_cost = 1;

    /// Whether atoms of a predicate are stored in states: they change, and no axiom derives them.
    bool is_stored(int32_t predicate) const { return fluent[predicate] && stratum[predicate] < 0; }
    /// Numbers in a row of a relaxed plan that begins with this one: (schema, objects...), or an atom (~predicate, objects...).
    size_t plan_row_size(int32_t first) const {
        return 1 + (first < 0 ? static_cast<size_t>(arities[~first]) : schemas[first].parameters.size());
    }
    int32_t cost(const Schema &schema, const int32_t *args) const;
    std::string action_name(const int32_t *tuple, size_t count) const;
    std::string atom_name(int32_t predicate, const int32_t *args) const;

private:
    int32_t checked_min_cost(const Schema &schema) const;
    void check_rule(const Rule &rule, const std::string &name) const;
    void check_axioms();
    void check_literal(const Literal &literal, size_t parameters, const std::vector<int32_t> &arity) const;
    void check_terms(const std::vector<int32_t> &terms, size_t parameters) const;
};

inline int32_t ground_term(int32_t term, const int32_t *binding) { return term >= 0 ? binding[term] : -term - 1; }

/// Numbers tuples (symbol, arguments) in the order of their first appearance.
class TupleTable {
public:
    int32_t intern(int32_t symbol, const int32_t *args, size_t count) {
        auto fresh = static_cast<int32_t>(symbols_.size());
        int32_t id = index_.find_or_insert(hash_ints(args, count, symbol), fresh,
                                           [&](int32_t other) { return equal(other, symbol, args, count); });
        if (id == fresh) {
            symbols_.push_back(symbol);
            args_.insert(args_.end(), args, args + count);
            begin_.push_back(args_.size());
        }
        return id;
    }
    int32_t find(int32_t symbol, const int32_t *args, size_t count) const {
        return index_.find(hash_ints(args, count, symbol),
                           [&](int32_t other) { return equal(other, symbol, args, count); });
    }
    size_t size() const { return symbols_.size(); }
    int32_t symbol(int32_t id) const { return symbols_[id]; }
    const int32_t *args(int32_t id) const { return args_.data() + begin_[id]; }
    size_t count(int32_t id) const { return begin_[id + 1] - begin_[id]; }
    size_t bytes() const {
        return index_.bytes() + symbols_.capacity() * 4 + args_.capacity() * 4 + begin_.capacity() * 8;
    }

private:
    bool equal(int32_t id, int32_t symbol, const int32_t *args, size_t count) const {
        return symbols_[id] == symbol && this->count(id) == count &&
               std::equal(args, args + count, this->args(id));
    }
    RowSet index_;
    std::vector<int32_t> symbols_, args_;
    std::vector<size_t> begin_{0};
};

}  // namespace gsp
