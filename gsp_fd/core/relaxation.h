// hmax, hadd and hFF over the delete relaxation of a ground task.
#pragma once

#include "evaluator.h"
#include "ground_task.h"

namespace gsp {

enum class RelaxedKind { hmax, hadd, hff };

/// The result may serve several searches one after another, on states of the same task.
std::shared_ptr<Heuristic> make_relaxed(RelaxedKind kind, std::shared_ptr<const GroundTask> task, CostType cost_type,
                                        std::string name);

}  // namespace gsp
