// From a lifted task to a ground one: relaxed reachability, mutex groups, finite-domain variables.
#pragma once

#include "ground_task.h"
#include "database.h"

namespace gsp {

/// Ground STRIPS over the fluent atoms that the relaxed task reaches; atoms are numbered by `Grounding::atoms`.
struct GroundAction {
    std::vector<int32_t> pre, neg, add, del;  // sorted; add and del are disjoint
    std::vector<int32_t> tuple;               // (schema, objects...)
    int32_t cost;
};

struct Grounding {
    std::vector<GroundAction> actions;
    std::vector<GroundAtom> atoms;
    std::vector<int32_t> init, goal_positive, goal_negative;
    bool solvable = true;  // false: the relaxed task does not reach the goal
};

Grounding ground_actions(const LiftedTask &task, Watch &watch);

/// Sets of atoms of which exactly one is true initially and no action makes more than one true.
std::vector<std::vector<int32_t>> mutex_groups(const LiftedTask &task, const Grounding &grounding, Watch &watch);

std::shared_ptr<GroundTask> ground(std::shared_ptr<const LiftedTask> task, Watch &watch);

}  // namespace gsp
