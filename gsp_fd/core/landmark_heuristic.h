// landmark_sum: the costs of the landmarks that must still become true, each at that of its cheapest achiever.
#pragma once

#include "evaluator.h"
#include "landmark_factory.h"
#include "landmark_status.h"

namespace gsp {

/// The landmarks of a task, for several heuristics and searches.
struct Landmarks {
    Landmarks(std::shared_ptr<const GroundTask> task, const LandmarkOptions &options, Watch &watch, const LandmarkLog &log);

    const std::shared_ptr<const GroundTask> task;
    const LandmarkGraph graph;
    const TupleTable atoms;  // see ground_values.h
};

struct LandmarkSumOptions {
    CostType cost_type = CostType::normal;
    bool preferred = false;  // operators that make a landmark true that must become true
    ProgressionOptions progression;
};

std::shared_ptr<Heuristic> make_landmark_sum(std::shared_ptr<const Landmarks> landmarks, const LandmarkSumOptions &options,
                                             std::string name);
/// The same for a task that is too large for landmarks: its goals stand for them.
std::shared_ptr<Heuristic> make_goal_sum(std::shared_ptr<const LiftedTask> task, CostType cost_type, std::string name);

}  // namespace gsp
