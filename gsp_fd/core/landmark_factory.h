// Landmark factories: the landmarks of a ground task from its initial state.
#pragma once

#include "landmark_graph.h"
#include "landmark_task.h"

namespace gsp {

struct LandmarkOptions {
    bool disjunctive = true;  // keep disjunctive landmarks
    bool orders = true;
    bool reasonable = true;   // reasonable orders too
    AxiomHandling axioms = AxiomHandling::approximate_negative_cycles;
};

using LandmarkLog = std::function<void(const std::string &)>;

/// Landmarks by backchaining from the goal, by Richter, Helmert and Westphal (AAAI 2008): what all operators need that can be
/// the first to reach a landmark; disjunctions of facts of one predicate, one for each such operator; and what domain transition
/// graphs tell.
LandmarkGraph rhw_landmarks(LandmarkTask &task, const LandmarkOptions &options, Watch &watch, const LandmarkLog &log);

/// Adds the reasonable orders of Hoffmann, Porteous and Sebastia (JAIR 22, 2004).
void add_reasonable_orders(const LandmarkTask &task, LandmarkGraph &graph, Watch &watch);

/// The landmarks of a task, by the options. The log is told what was found, in Fast Downward's words. Stopped at a limit.
LandmarkGraph find_landmarks(const GroundTask &task, const LandmarkOptions &options, Watch &watch, const LandmarkLog &log);

}  // namespace gsp
