#include "ground_task.h"

#include <algorithm>
#include <numeric>

namespace gsp {

size_t GroundTask::num_derived() const { return derived_.size(); }

void GroundTask::finish(Watch *watch) {
    first_fact.assign(1, 0);
    for (const Variable &v : variables) first_fact.push_back(first_fact.back() + v.size());
    for (Operator &op : operators) std::sort(op.preconditions.begin(), op.preconditions.end());
    unit_cost = true;
    max_cost = 0;
    min_cost = operators.empty() ? 0 : INT32_MAX;
    for (const Operator &op : operators) {
        min_cost = std::min(min_cost, op.cost);
        unit_cost = unit_cost && op.cost == 1;
        max_cost = std::max(max_cost, op.cost);
    }
    build_successor_generator(watch);
    build_axiom_tables();
}

// ---- successor generator: a decision tree over the preconditions, variables in order

void GroundTask::build_successor_generator(Watch *watch) {
    for (auto *part : {&leaves_, &children_, &child_values_}) part->clear();
    nodes_.clear();
    std::vector<int32_t> order(operators.size());
    std::iota(order.begin(), order.end(), 0);
    size_t comparisons = 0;
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
        if (watch && ++comparisons % 1024 == 0) watch->throw_if_expired();
        return operators[a].preconditions < operators[b].preconditions;
    });
    root_ = order.empty() ? -1 : 0;
    // A list of work and not a recursion: an operator may have a hundred thousand preconditions.
    std::vector<Subtree> open;
    if (!order.empty()) open.push_back({0, order.size(), 0, no_parent});
    while (!open.empty()) {
        if (watch) {
            watch->throw_if_expired();
            watch->before_growth(nodes_, leaves_, children_, child_values_, open);
        }
        Subtree subtree = open.back();
        open.pop_back();
        if (subtree.child != no_parent) children_[subtree.child] = static_cast<int32_t>(nodes_.size());
        build_subtree(order, subtree, open);
    }
}

void GroundTask::build_subtree(const std::vector<int32_t> &order, Subtree subtree, std::vector<Subtree> &open) {
    auto [begin, end, depth, child] = subtree;
    auto next = [&, depth = depth](size_t i) -> const Fact & { return operators[order[i]].preconditions[depth]; };
    // Sorted order puts the operators that have no further precondition first, then those with the smallest variable. One
    // turn of the loop switches on one variable; the operators that do not mention it are left for the next turn.
    for (int32_t previous = -1; begin < end || previous < 0;) {
        int32_t id = static_cast<int32_t>(nodes_.size());
        nodes_.push_back({-1, static_cast<int32_t>(leaves_.size()), 0, -1, -1, -1, 0});
        if (previous >= 0) nodes_[previous].dont_care = id;
        while (begin < end && operators[order[begin]].preconditions.size() == depth) leaves_.push_back(order[begin++]);
        nodes_[id].leaf_end = static_cast<int32_t>(leaves_.size());
        if (begin == end) break;

        int32_t variable = next(begin).variable;
        nodes_[id].variable = variable;
        size_t below = open.size();
        while (begin < end && next(begin).variable == variable) {
            int32_t value = next(begin).value;
            size_t stop = begin;
            while (stop < end && next(stop) == Fact{variable, value}) ++stop;
            open.push_back({begin, stop, depth + 1, static_cast<size_t>(value)});
            begin = stop;
        }
        place_children(nodes_[id], std::span(open).subspan(below));
        previous = id;
    }
}

/// Gives the children of a node their places; until then `child` of each is its value.
void GroundTask::place_children(Node &node, std::span<Subtree> below) {
    auto values = static_cast<size_t>(variables[node.variable].size());
    bool dense = values <= 4 * below.size() + 16;
    size_t first = children_.size(), count = dense ? values : below.size();
    if (first + count > INT32_MAX) throw std::bad_alloc();
    node.child_begin = static_cast<int32_t>(first);
    children_.resize(first + count, -1);
    if (!dense) {
        node.value_begin = static_cast<int32_t>(child_values_.size());
        node.num_values = static_cast<int32_t>(count);
        for (const Subtree &subtree : below) child_values_.push_back(static_cast<int32_t>(subtree.child));
    }
    for (size_t i = 0; i < below.size(); ++i) below[i].child = first + (dense ? below[i].child : i);
}

void GroundTask::applicable(const int32_t *values, std::vector<int32_t> &out) const {
    int32_t stack[256];
    std::vector<int32_t> overflow;  // only for preconditions over more than 250 variables
    int top = 0;
    if (root_ >= 0) stack[top++] = root_;
    while (top > 0 || !overflow.empty()) {
        int32_t id;
        if (!overflow.empty()) {
            id = overflow.back();
            overflow.pop_back();
        } else {
            id = stack[--top];
        }
        // The chain of "does not mention this variable" children is followed in place.
        while (id >= 0) {
            const Node &node = nodes_[id];
            for (int32_t i = node.leaf_begin; i < node.leaf_end; ++i) out.push_back(leaves_[i]);
            if (node.variable < 0) break;
            int32_t child = this->child(node, values[node.variable]);
            if (child >= 0) {
                if (top < 256) stack[top++] = child;
                else overflow.push_back(child);
            }
            id = node.dont_care;
        }
    }
}

// ---- axioms

void GroundTask::build_axiom_tables() {
    derived_.clear();
    default_.clear();
    int32_t layers = 0;
    for (size_t v = 0; v < variables.size(); ++v) {
        if (variables[v].axiom_layer < 0) continue;
        derived_.push_back(static_cast<int32_t>(v));
        default_.push_back(initial[v]);
        layers = std::max(layers, variables[v].axiom_layer + 1);
    }
    axiom_order_.resize(axioms.size());
    std::iota(axiom_order_.begin(), axiom_order_.end(), 0);
    auto layer = [&](int32_t a) { return variables[axioms[a].effect.variable].axiom_layer; };
    std::stable_sort(axiom_order_.begin(), axiom_order_.end(),
                     [&](int32_t a, int32_t b) { return layer(a) < layer(b); });
    layer_begin_.assign(layers + 1, 0);
    for (int32_t a : axiom_order_) ++layer_begin_[layer(a) + 1];
    for (int32_t i = 0; i < layers; ++i) layer_begin_[i + 1] += layer_begin_[i];
    Rows conditions;
    for (const Axiom &axiom : axioms) {
        for (const Fact &fact : axiom.conditions) conditions.values.push_back(fact_id(fact));
        conditions.close();
    }
    axioms_with_condition_ = conditions.inverted(num_facts());
    // The stored initial state holds defaults; what derives in it is part of every evaluated state, not of `initial`.
}

void GroundTask::evaluate_axioms(int32_t *values) const {
    if (derived_.empty()) return;
    for (size_t i = 0; i < derived_.size(); ++i) values[derived_[i]] = default_[i];
    std::vector<int32_t> open(axioms.size());
    std::vector<int32_t> queue;
    for (size_t a = 0; a < axioms.size(); ++a) {
        int32_t missing = 0;
        for (const Fact &fact : axioms[a].conditions) missing += values[fact.variable] != fact.value;
        open[a] = missing;
    }
    // Conditions on derived variables of lower layers with the default value were counted as true above and are corrected
    // when such a variable changes: `open` is exact for every layer by the time that layer starts.
    for (size_t layer = 0; layer + 1 < layer_begin_.size(); ++layer) {
        for (int32_t i = layer_begin_[layer]; i < layer_begin_[layer + 1]; ++i)
            if (open[axiom_order_[i]] == 0) queue.push_back(axiom_order_[i]);
        while (!queue.empty()) {
            const Fact effect = axioms[queue.back()].effect;
            queue.pop_back();
            int32_t old = values[effect.variable];
            if (old == effect.value) continue;
            values[effect.variable] = effect.value;
            for (int32_t a : axioms_with_condition_[first_fact[effect.variable] + old]) ++open[a];
            for (int32_t a : axioms_with_condition_[fact_id(effect)])
                if (--open[a] == 0 &&
                    variables[axioms[a].effect.variable].axiom_layer == static_cast<int32_t>(layer))
                    queue.push_back(a);
        }
    }
}

}  // namespace gsp
