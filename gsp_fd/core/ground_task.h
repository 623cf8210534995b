// The ground task in finite-domain form (SAS+ with conditional effects and axioms), as read from a SAS file or made by the
// grounder. A fact is a (variable, value) pair with one number: first_fact[variable] + value.
#pragma once

#include "lifted_task.h"

namespace gsp {

struct Variable {
    std::string name;
    int32_t axiom_layer = -1;
    std::vector<std::string> value_names;
    int32_t size() const { return static_cast<int32_t>(value_names.size()); }
};

struct Fact {
    int32_t variable, value;
    bool operator==(const Fact &) const = default;
    auto operator<=>(const Fact &) const = default;
};

/// variable := value, if all conditions hold in the state before.
struct Effect {
    std::vector<Fact> conditions;
    Fact fact;
};

struct Operator {
    std::vector<Fact> preconditions;  // sorted by variable, one per variable
    std::vector<Effect> effects;
    int32_t cost = 1;
};

struct Axiom {
    std::vector<Fact> conditions;
    Fact effect;
};

class GroundTask {
public:
    static std::shared_ptr<GroundTask> from_sas(std::string_view text);
    std::string to_sas() const;

    std::vector<Variable> variables;
    std::vector<std::vector<Fact>> mutex_groups;
    std::vector<int32_t> initial;  // derived variables: their default values
    std::vector<Fact> goal;
    std::vector<Operator> operators;
    std::vector<Axiom> axioms;
    bool metric = false;

    /// Where the task was grounded from a lifted one: that task, (schema, objects...) of every operator, the facts of the
    /// fluent atoms, and the values when no atom is true.
    struct AtomFacts {
        int32_t predicate;
        std::vector<int32_t> args;
        Fact fact;
        Fact mirror;  // variable -1: none
    };
    std::shared_ptr<const LiftedTask> lifted;
    Rows operator_tuples;
    std::vector<AtomFacts> atom_facts;
    std::vector<int32_t> empty_values;

    /// Fills the tables below; every builder calls it last. Stopped at a limit of the watch.
    void finish(Watch *watch = nullptr);

    std::string operator_name(size_t i) const {
        if (lifted) return lifted->action_name(operator_tuples[i].data(), operator_tuples[i].size());
        return names_.substr(name_begin_[i], name_begin_[i + 1] - name_begin_[i]);
    }
    /// Names of operators that come without a lifted task, in their order.
    void add_name(std::string_view name) {
        names_.append(name);
        name_begin_.push_back(names_.size());
    }

    std::vector<int32_t> first_fact;  // per variable, and the number of facts at the end
    int32_t num_facts() const { return first_fact.back(); }
    int32_t fact_id(Fact fact) const { return first_fact[fact.variable] + fact.value; }
    bool unit_cost = true;
    int32_t min_cost = 0, max_cost = 0;
    bool has_axioms() const { return !axioms.empty(); }
    size_t num_derived() const;

    /// Sets the derived variables of a state from the others: axioms layer by layer, to a fixed point in each.
    void evaluate_axioms(int32_t *values) const;
    bool is_goal(const int32_t *values) const {
        for (const Fact &fact : goal)
            if (values[fact.variable] != fact.value) return false;
        return true;
    }
    /// Operators applicable in a state, in the order of the successor generator.
    void applicable(const int32_t *values, std::vector<int32_t> &out) const;

private:
    void build_successor_generator(Watch *watch);
    /// Operators order[begin .. end) agree on their first `depth` preconditions; `child` is where the parent points to them.
    struct Subtree {
        size_t begin, end, depth, child;
    };
    static constexpr size_t no_parent = SIZE_MAX;
    void build_subtree(const std::vector<int32_t> &order, Subtree subtree, std::vector<Subtree> &open);
    void build_axiom_tables();
    struct Node;
    void place_children(Node &node, std::span<Subtree> below);

    struct Node {
        int32_t variable;          // -1: no switch below
        int32_t leaf_begin, leaf_end;  // operators applicable as soon as the node is reached
        int32_t child_begin;
        int32_t dont_care;
        int32_t value_begin, num_values;  // in child_values_: the values with a child; -1: one child per value
    };
    int32_t child(const Node &node, int32_t value) const {
        if (node.value_begin < 0) return children_[node.child_begin + value];
        const int32_t *begin = child_values_.data() + node.value_begin, *end = begin + node.num_values;
        const int32_t *found = std::lower_bound(begin, end, value);
        return found != end && *found == value ? children_[node.child_begin + (found - begin)] : -1;
    }
    std::vector<Node> nodes_;
    std::vector<int32_t> leaves_, children_, child_values_;
    int32_t root_ = -1;

    std::string names_;
    std::vector<size_t> name_begin_{0};

    std::vector<int32_t> axiom_order_;  // axioms sorted by layer
    std::vector<int32_t> layer_begin_;
    Rows axioms_with_condition_;        // fact -> axioms
    std::vector<int32_t> derived_, default_;
};

}  // namespace gsp
