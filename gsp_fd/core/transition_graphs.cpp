#include "transition_graphs.h"

namespace gsp {
namespace {

int32_t value_in(const std::vector<Fact> &facts, int32_t variable) {
    for (Fact fact : facts)
        if (fact.variable == variable) return fact.value;
    return -1;
}

}  // namespace

TransitionGraphs::TransitionGraphs(const GroundTask &task) : successors_(task.num_facts()), from_any_(task.variables.size()) {
    for (const Operator &op : task.operators)
        for (const Effect &effect : op.effects) {
            auto [variable, after] = effect.fact;
            int32_t needed = value_in(op.preconditions, variable), condition = value_in(effect.conditions, variable);
            if (needed >= 0 && condition >= 0 && needed != condition) continue;
            int32_t before = std::max(needed, condition);
            if (before < 0) from_any_[variable].push_back(after);
            else if (before != after) successors_[task.fact_id({variable, before})].push_back(after);
        }
    auto remove_copies = [](std::vector<int32_t> &values) {
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
    };
    std::for_each(successors_.begin(), successors_.end(), remove_copies);
    std::for_each(from_any_.begin(), from_any_.end(), remove_copies);
}

/// Whether there is a path from the initial value to the fact's, through reached values other than the avoided one. Fills in
/// the value before each value that is met.
bool TransitionGraphs::find_path(const LandmarkTask &task, Fact fact, int32_t avoided, std::vector<int32_t> &came_from) const {
    came_from.assign(task.ground.variables[fact.variable].size(), -1);
    int32_t start = task.initial[fact.variable];
    std::vector<int32_t> open{start};
    came_from[start] = start;
    for (size_t next = 0; next < open.size(); ++next) {
        int32_t value = open[next];
        for (const auto *values : {&successors_[task.ground.fact_id({fact.variable, value})], &from_any_[fact.variable]})
            for (int32_t after : *values) {
                if (came_from[after] >= 0 || after == avoided) continue;
                if (after != fact.value && !task.reached(Fact{fact.variable, after})) continue;
                came_from[after] = value;
                if (after == fact.value) return true;
                open.push_back(after);
            }
    }
    return false;
}

std::vector<int32_t> TransitionGraphs::critical_values(const LandmarkTask &task, Fact fact) const {
    std::vector<int32_t> path, other, critical;
    const int32_t start = task.initial[fact.variable];
    if (!find_path(task, fact, -1, path)) {
        for (int32_t value = 0; value < task.ground.variables[fact.variable].size(); ++value)
            if (task.reached(Fact{fact.variable, value})) critical.push_back(value);
        return critical;
    }
    // Only what is on one path can be on all of them.
    for (int32_t value = path[fact.value];; value = path[value]) {
        if (value == start || !find_path(task, fact, value, other)) critical.push_back(value);
        if (value == start) break;
    }
    std::sort(critical.begin(), critical.end());
    return critical;
}

}  // namespace gsp
