// A task as the improvement of a plan sees it: steps with what they need and change, over numbered variables (atoms are
// variables with the values 0 and 1), and parts of a plan as small tasks of their own.
#pragma once

#include <optional>

#include "ground_task.h"
#include "state_space.h"

namespace gsp {

using Values = std::vector<int32_t>;  // per variable

struct PlanStep {
    int32_t op;  // of the PlanTask
    int32_t cost;
    std::vector<Fact> conditions;
    std::vector<Effect> effects;
};

using Plan = std::vector<PlanStep>;

/// What is to be found again: from a state to facts, with what stands in the plan for it now.
struct Window {
    const Values &before;
    const std::vector<Fact> &needed;
    std::span<const PlanStep> steps;
};

struct WindowTask {
    std::shared_ptr<const GroundTask> task;
    std::vector<int32_t> ops;  // operator of `task` -> operator of the PlanTask
};

class PlanTask {
public:
    PlanTask() = default;
    PlanTask(const PlanTask &) = delete;
    virtual ~PlanTask() = default;

    /// The steps of operators given by their names, from the initial state; nothing if this is no plan.
    std::optional<Plan> plan(const std::vector<std::string> &names);
    virtual PlanStep step(int32_t op) = 0;
    virtual std::string name(int32_t op) const = 0;
    virtual const Values &initial() const = 0;
    virtual const std::vector<Fact> &goal() const = 0;
    virtual bool has_axioms() const { return false; }

    static bool hold(const std::vector<Fact> &facts, const Values &values) {
        return std::all_of(facts.begin(), facts.end(), [&](const Fact &f) { return values[f.variable] == f.value; });
    }
    /// Changes a state in which the step's conditions hold.
    void apply(const PlanStep &step, Values &values);

    /// A space of this task without symmetry reduction, and its operators in this task's numbers.
    virtual std::unique_ptr<StateSpace> new_space() const = 0;
    virtual int32_t to_space(StateSpace &space, int32_t op) const = 0;
    virtual int32_t from_space(StateSpace &space, int32_t op) = 0;

    /// A task with the actions near those of the window, `wide` or narrow; nothing if there are too many of them. What it
    /// leaves out of the state and of the facts to be reached never changes in it. `random` chooses what is near.
    virtual std::optional<WindowTask> window(const Window &window, bool wide, uint64_t random, Watch &watch) = 0;

protected:
    /// Operators with these names, some names with several.
    virtual std::vector<std::vector<int32_t>> find(const std::vector<std::string> &names) = 0;
    virtual void derive(Values & /*values*/) const {}

private:
    std::vector<Fact> changes_;
};

std::unique_ptr<PlanTask> make_plan_task(std::shared_ptr<const GroundTask> task);
std::unique_ptr<PlanTask> make_plan_task(std::shared_ptr<const LiftedTask> task);

}  // namespace gsp
