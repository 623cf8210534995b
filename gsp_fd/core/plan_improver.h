// Plans made cheaper: steps left out, shortcuts between states on and around the plan, parts of the plan planned again.
#pragma once

#include "plan_task.h"

namespace gsp {

struct PlanReport {
    std::string method;
    std::vector<std::string> actions;
    std::vector<int32_t> costs;  // of the actions
    double seconds;  // of CPU time, for this gain
};

struct ImproveOptions {
    uint64_t seed = 0;
    size_t max_states = 2'000'000;  // around the plan
    /// Called with every better plan: cheaper, or as cheap and shorter.
    std::function<void(const PlanReport &)> found;
};

/// Improves a plan until nothing helps any more (Stop::none) or the watch says so. InputError if it is no plan of the task.
Stop improve_plan(PlanTask &task, const std::vector<std::string> &actions, const ImproveOptions &options, Watch &watch);

}  // namespace gsp
