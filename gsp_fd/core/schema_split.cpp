#include "schema_split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace gsp {
namespace {

enum class Kind { positive, negative, equal, unequal, type };

/// A condition of a rule: a literal, a comparison, or that a parameter which no literal binds has its type.
struct Item {
    Kind kind;
    Literal literal;      // comparisons: the two terms
    uint64_t parameters;  // a set
    bool fluent;
    double selectivity;   // the share of the bindings of its parameters for which it may hold

    bool generates() const { return kind == Kind::positive || kind == Kind::type || (kind == Kind::negative && fluent); }
};

uint64_t parameters_of(const std::vector<int32_t> &terms) {
    uint64_t set = 0;
    for (int32_t term : terms)
        if (term >= 0) set |= uint64_t{1} << term;
    return set;
}

uint64_t all_parameters(const std::vector<Item> &items) {
    uint64_t set = 0;
    for (const Item &item : items) set |= item.parameters;
    return set;
}

bool same(const Literal &a, const Literal &b) { return a.predicate == b.predicate && a.args == b.args; }

Literal substituted(Literal literal, int32_t from, int32_t to) {
    std::replace(literal.args.begin(), literal.args.end(), from, to);
    return literal;
}

/// Splits one effect of one schema.
class Split {
public:
    Split(const LiftedTask &task, SplitTask &out, int32_t schema, const std::vector<double> &static_sizes,
          std::map<std::vector<int32_t>, int32_t> &known)
        : task_(task), out_(out), schema_(schema), source_(task.schemas[schema]), static_sizes_(static_sizes), known_(known) {}

    void run(const Literal &head, bool negated) {
        if (!negated && std::any_of(source_.positive.begin(), source_.positive.end(),
                                    [&](const Literal &pre) { return same(pre, head); }))
            return;
        collect(head, negated);
        // Costs are paid by the last rule, so it must know the parameters that they depend on.
        uint64_t kept = parameters_of(head.args);
        if (task_.metric)
            for (const Literal &term : source_.cost_terms) kept |= parameters_of(term.args);
        while (join_best(kept)) {}
        Literal effect = head;
        if (negated) effect.predicate = out_.negation(head.predicate);
        add_rule(items_, kept, effect, true);
    }

private:
    void collect(const Literal &head, bool negated) {
        items_.clear();
        uint64_t bound = 0;
        for (const Literal &literal : source_.positive) {
            bound |= parameters_of(literal.args);
            add_item(Kind::positive, literal, task_.fluent[literal.predicate]);
        }
        for (const Literal &literal : source_.negative)
            // Where the head is true already, deriving it is of no use.
            if (negated || !same(literal, head)) add_item(Kind::negative, literal, task_.fluent[literal.predicate]);
        for (auto [a, b] : source_.equal) add_item(Kind::equal, {-1, {a, b}}, false);
        for (auto [a, b] : source_.unequal)
            if (negated || !is_harmless(head, a, b)) add_item(Kind::unequal, {-1, {a, b}}, false);
        for (size_t p = 0; p < source_.parameters.size(); ++p)
            if (!(bound >> p & 1)) add_item(Kind::type, {-1, {static_cast<int32_t>(p)}}, false);
    }
    /// An inequality is of no use if without it the rule would derive what it needs itself.
    bool is_harmless(const Literal &head, int32_t a, int32_t b) const {
        if (a < 0) std::swap(a, b);
        if (a < 0) return false;
        Literal unified = substituted(head, a, b);
        return std::any_of(source_.positive.begin(), source_.positive.end(),
                           [&](const Literal &pre) { return same(substituted(pre, a, b), unified); });
    }
    void add_item(Kind kind, const Literal &literal, bool fluent) {
        uint64_t parameters = parameters_of(literal.args);
        double selectivity = 1;
        if (kind == Kind::positive && !fluent) selectivity = std::min(1.0, static_sizes_[literal.predicate] / bindings(parameters));
        items_.push_back({kind, literal, parameters, fluent, selectivity});
    }

    double bindings(uint64_t parameters) const {
        double product = 1;
        for (uint64_t m = parameters; m != 0; m &= m - 1)
            product *= static_cast<double>(std::max<size_t>(task_.type_members[source_.parameters[std::countr_zero(m)]].size(), 1));
        return product;
    }
    /// About how many instances a rule with these conditions has.
    double instances(const std::vector<Item> &items, uint64_t kept) const {
        double count = bindings(all_parameters(items) | kept);
        for (const Item &item : items) count *= item.selectivity;
        return count;
    }
    /// What the rule costs an evaluation: instances and their preconditions.
    double work(const std::vector<Item> &items, uint64_t kept) const {
        auto fluents = std::count_if(items.begin(), items.end(), [](const Item &item) { return item.fluent; });
        return instances(items, kept) * (fluents == 0 ? 0.1 : 1.0 + static_cast<double>(fluents));
    }

    /// Items i and j (or only i) with all that can be checked as soon as they are bound, and the rest.
    void divide(size_t i, size_t j, std::vector<Item> &group, std::vector<Item> &rest) const {
        group.clear();
        rest.clear();
        uint64_t parameters = items_[i].parameters | items_[j].parameters;
        for (size_t k = 0; k < items_.size(); ++k) {
            bool free = !items_[k].fluent && (items_[k].parameters & ~parameters) == 0;
            (k == i || k == j || free ? group : rest).push_back(items_[k]);
        }
    }
    Item auxiliary(const std::vector<Item> &group, const std::vector<Item> &rest, uint64_t kept) const {
        Item item{Kind::positive, {-1, {}}, all_parameters(group) & (kept | all_parameters(rest)), false, 1};
        item.fluent = std::any_of(group.begin(), group.end(), [](const Item &part) { return part.fluent; });
        item.selectivity = std::min(1.0, instances(group, 0) / bindings(item.parameters));
        for (uint64_t m = item.parameters; m != 0; m &= m - 1) item.literal.args.push_back(std::countr_zero(m));
        return item;
    }
    /// Replaces one or two conditions by an auxiliary atom, if that saves work; or if it costs next to nothing, because a
    /// rule with fewer conditions is a step towards one that saves work.
    bool join_best(uint64_t kept) {
        double now = work(items_, kept), least = INFINITY;
        std::vector<Item> group, rest, best_group, best_rest;
        for (size_t i = 0; i < items_.size(); ++i)
            for (size_t j = i; j < items_.size(); ++j) {
                if (!items_[i].generates() || !items_[j].generates()) continue;
                divide(i, j, group, rest);
                if (rest.empty() && (all_parameters(group) & ~kept) == 0) continue;
                rest.push_back(auxiliary(group, rest, kept));
                double own = work(group, 0), total = own + work(rest, kept);
                bool saves = total < 0.9 * now, simplifies = rest.size() < items_.size() && own < 0.1 * now && total < 1.1 * now;
                if (total >= least || !(saves || simplifies)) continue;
                least = total;
                best_group = group;
                best_rest = rest;
            }
        if (best_group.empty()) return false;
        Item &item = best_rest.back();
        item.literal.predicate = auxiliary_predicate(best_group, item);
        items_ = std::move(best_rest);
        return true;
    }
    /// The predicate of an auxiliary atom; effects of one schema share those with the same conditions.
    int32_t auxiliary_predicate(const std::vector<Item> &group, const Item &item) {
        std::vector<int32_t> key{schema_};
        for (const Item &part : group) {
            key.push_back(static_cast<int32_t>(part.kind));
            key.push_back(part.literal.predicate);
            key.insert(key.end(), part.literal.args.begin(), part.literal.args.end());
            key.push_back(INT32_MAX);
        }
        key.insert(key.end(), item.literal.args.begin(), item.literal.args.end());
        auto [it, fresh] = known_.emplace(key, static_cast<int32_t>(out_.program.predicates.size()));
        if (fresh) {
            out_.program.predicates.emplace_back();
            out_.program.arities.push_back(static_cast<int32_t>(item.literal.args.size()));
            out_.program.fluent.push_back(1);
            out_.static_auxiliary.push_back(!item.fluent);
            add_rule(group, item.parameters, {it->second, item.literal.args}, false);
        }
        return it->second;
    }

    void add_rule(const std::vector<Item> &items, uint64_t kept, const Literal &head, bool final) {
        Schema rule;
        rule.name = source_.name;
        RuleOrigin origin{schema_, {}, final};
        int32_t renamed[LiftedTask::max_parameters];
        for (uint64_t m = all_parameters(items) | kept; m != 0; m &= m - 1) {
            int32_t parameter = std::countr_zero(m);
            renamed[parameter] = static_cast<int32_t>(rule.parameters.size());
            rule.parameters.push_back(source_.parameters[parameter]);
            origin.parameters.push_back(parameter);
        }
        auto local = [&](Literal literal) {
            for (int32_t &term : literal.args)
                if (term >= 0) term = renamed[term];
            return literal;
        };
        for (const Item &item : items) {
            Literal literal = local(item.literal);
            switch (item.kind) {
            case Kind::positive: rule.positive.push_back(literal); break;
            case Kind::negative: rule.negative.push_back(literal); break;
            case Kind::equal: rule.equal.emplace_back(literal.args[0], literal.args[1]); break;
            case Kind::unequal: rule.unequal.emplace_back(literal.args[0], literal.args[1]); break;
            case Kind::type: break;
            }
        }
        rule.add.push_back(local(head));
        if (final) {
            rule.cost = source_.cost;
            for (const Literal &term : source_.cost_terms)
                if (task_.metric) rule.cost_terms.push_back(local(term));
        }
        out_.program.schemas.push_back(std::move(rule));
        out_.origins.push_back(std::move(origin));
    }

    const LiftedTask &task_;
    SplitTask &out_;
    int32_t schema_;
    const Schema &source_;
    const std::vector<double> &static_sizes_;
    std::map<std::vector<int32_t>, int32_t> &known_;
    std::vector<Item> items_;
};

}  // namespace

SplitTask split_schemas(const LiftedTask &task) {
    SplitTask out;
    LiftedTask &program = out.program;
    program.objects = task.objects;
    program.type_members = task.type_members;
    program.is_member = task.is_member;
    program.function_values = task.function_values;
    program.metric = task.metric;
    program.init = task.init;
    size_t count = task.predicates.size();
    program.predicates.resize(2 * count);
    for (int round = 0; round < 2; ++round)
        program.arities.insert(program.arities.end(), task.arities.begin(), task.arities.end());
    program.fluent = task.fluent;
    program.fluent.resize(2 * count, 1);
    out.never_deleted.assign(count, 1);
    for (const Schema &schema : task.schemas)
        for (const Literal &del : schema.del) out.never_deleted[del.predicate] = 0;
    std::vector<double> static_sizes(count, 0);
    for (const GroundAtom &atom : task.init) ++static_sizes[atom.predicate];

    std::map<std::vector<int32_t>, int32_t> known;
    std::vector<char> negated(count, 0);  // predicates whose negation some rule or the goal asks for
    for (const GroundAtom &goal : task.goal_negative) negated[goal.predicate] = 1;
    std::vector<char> derived(count, 0);
    auto split = [&](bool deletes, const auto &wanted) {
        for (size_t s = 0; s < task.schemas.size(); ++s)
            for (const Literal &effect : deletes ? task.schemas[s].del : task.schemas[s].add)
                if (wanted(effect.predicate)) Split(task, out, static_cast<int32_t>(s), static_sizes, known).run(effect, deletes);
    };
    split(false, [](int32_t) { return true; });
    for (bool more = true; more;) {
        for (const Schema &rule : program.schemas)
            for (const Literal &literal : rule.negative)
                if (task.fluent[literal.predicate]) negated[literal.predicate] = 1;
        std::vector<char> now(count, 0);
        for (size_t p = 0; p < count; ++p) now[p] = negated[p] && !derived[p];
        more = std::find(now.begin(), now.end(), 1) != now.end();
        if (more) split(true, [&](int32_t predicate) { return now[predicate] != 0; });
        for (size_t p = 0; p < count; ++p) derived[p] = derived[p] || now[p];
    }
    return out;
}

}  // namespace gsp
