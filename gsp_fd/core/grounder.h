// From a lifted task to a ground one: relaxed reachability, mutex groups, finite-domain variables.
#pragma once

#include <optional>

#include "ground_task.h"

namespace gsp {

/// An action of ground STRIPS over the fluent atoms that the relaxed task reaches.
struct GroundAction {
    std::span<const int32_t> pre, neg, add, del;  // sorted; add and del are disjoint
    std::span<const int32_t> tuple;               // (schema, objects...)
    int32_t cost;
};

/// Atoms are numbered by `atoms`.
struct Grounding {
    std::vector<GroundAtom> atoms;
    std::vector<int32_t> init, goal_positive, goal_negative;
    bool solvable = true;  // false: the relaxed task does not reach the goal

    size_t num_actions() const { return costs_.size(); }
    GroundAction action(size_t i) const { return {pre_[i], neg_[i], add_[i], del_[i], tuples_[i], costs_[i]}; }
    void add_action(const GroundAction &action) {
        pre_.push(action.pre);
        neg_.push(action.neg);
        add_.push(action.add);
        del_.push(action.del);
        tuples_.push(action.tuple);
        costs_.push_back(action.cost);
    }

    void before_growth(Watch &watch) const {
        for (const Rows *rows : {&pre_, &neg_, &add_, &del_, &tuples_}) watch.before_growth(rows->begin, rows->values);
        watch.before_growth(costs_);
    }

private:
    Rows pre_, neg_, add_, del_, tuples_;
    std::vector<int32_t> costs_;
};

/// Nothing if there are more than `max_actions`.
std::optional<Grounding> ground_actions(const LiftedTask &task, size_t max_actions, Watch &watch);

/// Sets of atoms of which exactly one is true initially and no action makes more than one true.
std::vector<std::vector<int32_t>> mutex_groups(const LiftedTask &task, const Grounding &grounding, Watch &watch);

/// Reachable actions up to which searches and heuristics work on the ground task; beyond, on the lifted one.
constexpr size_t small_grounding = 200'000;

/// Null if there are more than `max_actions` reachable actions.
std::shared_ptr<GroundTask> ground(std::shared_ptr<const LiftedTask> task, size_t max_actions, Watch &watch);

}  // namespace gsp
