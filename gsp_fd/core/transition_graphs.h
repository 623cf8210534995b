// Domain transition graphs: which values of a variable operators change into which others.
#pragma once

#include "landmark_task.h"

namespace gsp {

class TransitionGraphs {
public:
    explicit TransitionGraphs(const GroundTask &task);

    /// The values that the variable must have at some time before it first has the fact's value, of those that are reached
    /// without the fact. The task must have been explored without it.
    std::vector<int32_t> critical_values(const LandmarkTask &task, Fact fact) const;

private:
    bool find_path(const LandmarkTask &task, Fact fact, int32_t avoided, std::vector<int32_t> &came_from) const;

    std::vector<std::vector<int32_t>> successors_;  // per fact: values
    std::vector<std::vector<int32_t>> from_any_;    // per variable: values that are set whatever the value was
};

}  // namespace gsp
