// The delete relaxation that hmax, hadd and hFF explore: facts, and relaxed operators that add facts. It is made from a ground
// task, one relaxed operator per operator and set of effect conditions; or straight from a lifted task that is too large to
// be grounded, from rules that split its schemas.
#pragma once

#include "default_axioms.h"
#include "evaluator.h"

namespace gsp {

/// What an exploration knows of a fact.
struct Reached {
    int32_t cost, supporter;  // the relaxed operator that reached it, -1 if it holds
    int32_t closed;           // the final cost, or before that is known -1 - (active entries that wait for the fact)
    uint32_t mark;            // of the relaxed plan
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
    /// Appends (~predicate, objects...) for a fact that is an atom of states. Only for tasks with conditional effects.
    virtual void append_atom(int32_t fact, Rows &rows) const = 0;
};

class RelaxedTask {
public:
    virtual ~RelaxedTask() = default;
    /// Null if the space is one of another task.
    virtual std::unique_ptr<RelaxedView> view(StateSpace &space) const = 0;

    static constexpr int32_t infinite = INT32_MAX / 2;

    /// What a fact contributes to with an operator of one or two preconditions, one entry per added fact: no counter is
    /// needed, since the operator is done when the other precondition is.
    struct Dependent {
        int32_t other;  // the other precondition, or -1
        int32_t add, cost, relaxed;
    };
    struct Counter {
        int32_t cost, open;
    };
    std::vector<int32_t> base_cost;      // per relaxed operator
    Rows preconditions, adds;
    std::vector<int32_t> unconditional;  // relaxed operators without preconditions
    std::vector<int32_t> goal;
    bool solvable = true;                // false: some goal fact cannot be reached at all
    bool conditional = false;            // actions have conditional effects: which of them a plan needs, it does not tell
    // Made by `finish`.
    /// An operator with two preconditions is an active entry of the rarer one (the more special one, and more often of no
    /// use) and a passive entry of the other, which matters only if the rarer one was there before. One with more has a
    /// counter.
    std::vector<Dependent> active, passive;
    std::vector<int32_t> counted;           // counters
    std::vector<int32_t> counter_operator;  // per counter, the relaxed operator
    /// Entries of one kind that follow one another in the order of the relaxed operators.
    enum class Kind : int32_t { active, passive, counted };
    struct Run {
        Kind kind;
        int32_t begin, end;
    };
    std::vector<Run> runs;
    struct FactInfo {
        int32_t first_run, first_active;
        /// All that the fact can lead to, where that is one or two facts (-1: none) that are not in the same position
        /// themselves. Once they have been reached as cheaply, the fact is of no use. `is_goal` and `many` for other facts.
        int32_t target, other_target;
    };
    static constexpr int32_t is_goal = -2, many = -3;
    std::vector<FactInfo> facts;         // and one more at the end
    std::vector<Counter> fresh;          // the counters before an exploration
    std::vector<Reached> unreached;

protected:
    void finish(size_t num_facts, Watch &watch);

private:
    void add_entries(int32_t fact, std::span<const int32_t> operators, const Rows &needed_by, Watch &watch);
    void find_targets(const Rows &needed_by, Watch &watch);

    std::vector<int32_t> counter_of_;  // per relaxed operator, or -1
};

// Stopped at a limit of the watch.
std::shared_ptr<const RelaxedTask> relax(std::shared_ptr<const GroundTask> task, CostType cost_type, AxiomHandling axioms, Watch &watch);
std::shared_ptr<const RelaxedTask> relax(std::shared_ptr<const LiftedTask> task, CostType cost_type, Watch &watch);

}  // namespace gsp
