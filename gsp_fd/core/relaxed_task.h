// The delete relaxation that hmax, hadd and hFF explore: facts, and relaxed operators that add facts. It is made from a ground
// task, one relaxed operator per operator and set of effect conditions; or straight from a lifted task that is too large to
// be grounded, from rules that split its schemas.
#pragma once

#include "evaluator.h"
#include "ground_task.h"

namespace gsp {

/// How an evaluation reached a fact: at which cost, and by which relaxed operator (-1: it holds).
struct Reached {
    int32_t cost, supporter;
};

/// The states of one space as facts, and relaxed operators as operators of that space.
class RelaxedView {
public:
    virtual ~RelaxedView() = default;
    /// Makes a state current and appends its facts, each once.
    virtual void load(int32_t state, std::vector<int32_t> &facts) = 0;
    /// The number of the action behind a relaxed operator, or -1 if there is none of its own.
    virtual int32_t action(int32_t relaxed, const Reached *reached) = 0;
    /// (schema, objects...) of an action; empty without a lifted task.
    virtual std::span<const int32_t> tuple(int32_t action) const = 0;
    /// The operator of the space that an action is in the current state, or -1 if it is not applicable.
    virtual int32_t applicable(int32_t action) = 0;
};

class RelaxedTask {
public:
    virtual ~RelaxedTask() = default;
    /// Null if the space is one of another task.
    virtual std::unique_ptr<RelaxedView> view(StateSpace &space) const = 0;

    static constexpr int32_t infinite = INT32_MAX / 2;

    /// A relaxed operator with a single precondition needs no counter: one of these per fact it adds.
    struct Single {
        int32_t add, cost, relaxed;
    };
    struct Counter {
        int32_t cost, open;
    };
    std::vector<int32_t> base_cost;      // per relaxed operator
    Rows preconditions, adds;
    std::vector<int32_t> unconditional;  // relaxed operators without preconditions
    std::vector<int32_t> always;         // facts that hold in every state
    std::vector<int32_t> goal;
    bool solvable = true;                // false: some goal fact cannot be reached at all
    /// Made by `finish`. Per fact, in the order of the relaxed operators: an operator, or ~i for singles[i].
    Rows dependents;
    std::vector<Single> singles;
    std::vector<char> is_goal;
    std::vector<Counter> fresh;          // of every relaxed operator, before an exploration
    std::vector<Reached> unreached;
    /// What the dependents of a fact add, where that is little: reached in another way, the dependents are of no use.
    Rows targets;

protected:
    void finish(size_t num_facts);

private:
    void find_targets(size_t num_facts);
};

std::shared_ptr<const RelaxedTask> relax(std::shared_ptr<const GroundTask> task, CostType cost_type);
std::shared_ptr<const RelaxedTask> relax(std::shared_ptr<const LiftedTask> task, CostType cost_type, Watch &watch);

}  // namespace gsp
