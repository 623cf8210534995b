// The heuristics of the core by name.
#pragma once

#include "default_axioms.h"
#include "evaluator.h"

namespace gsp {

/// What a heuristic is made for: a ground task or a lifted one, the costs it sees and its name in the log.
struct HeuristicRequest {
    std::shared_ptr<const GroundTask> ground;
    std::shared_ptr<const LiftedTask> lifted;
    CostType cost_type = CostType::normal;
    AxiomHandling axioms = AxiomHandling::approximate_negative_cycles;
    std::string name;
    Watch &watch;
};

/// InputError if there is no heuristic of this kind, Stopped at a limit.
std::shared_ptr<Heuristic> make_heuristic(const std::string &kind, const HeuristicRequest &request);

}  // namespace gsp
