// The states of a space as values of the variables of a ground task, and operators of that task as operators of the space: for
// heuristics that know the ground task and serve searches on the lifted one as well.
#pragma once

#include "ground_task.h"
#include "state_space.h"

namespace gsp {

class StateValues {
public:
    virtual ~StateValues() = default;
    /// Makes a state current; its values stay until the next call.
    virtual const int32_t *load(int32_t state) = 0;
    /// The operator of the space that an operator of the task is in the current state, or -1 if it is not applicable.
    virtual int32_t applicable(int32_t op) = 0;
};

/// The fluent atoms of a task that was grounded from a lifted one, numbered as in GroundTask::atom_facts.
TupleTable fluent_atoms(const GroundTask &task);

/// Null if the space is one of another task. The task and its atoms must outlive the result.
std::unique_ptr<StateValues> values_of(StateSpace &space, const GroundTask &task, const TupleTable &atoms);

}  // namespace gsp
