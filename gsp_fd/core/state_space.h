// What the search sees of a task: numbered states, numbered operators, and one "current" state at a time.
#pragma once

#include "common.h"

namespace gsp {

class StateSpace {
public:
    StateSpace() = default;
    StateSpace(const StateSpace &) = delete;
    virtual ~StateSpace() = default;

    virtual int32_t initial_state() = 0;
    /// Makes a state current for the calls below.
    virtual void load(int32_t state) = 0;
    virtual int32_t unsatisfied_goals() = 0;
    virtual bool is_goal() { return unsatisfied_goals() == 0; }
    virtual void applicable(std::vector<int32_t> &operators) = 0;
    /// The number of the state reached from the current one; a state that is new gets the number num_states() had.
    virtual int32_t apply(int32_t op) = 0;
    /// The same, but a state that is new gets no number: -1.
    virtual int32_t find_successor(int32_t op) = 0;

    virtual int32_t cost(int32_t op) const = 0;
    virtual bool unit_cost() const = 0;
    virtual int32_t min_cost() const = 0;
    virtual size_t num_states() const = 0;
    /// Bytes of the registered states with their hash table.
    virtual size_t state_bytes() const = 0;
    /// Operators have the numbers below this one; a lifted space numbers them as it meets them.
    virtual size_t num_operators() const = 0;
    virtual std::string operator_name(int32_t op) const = 0;

    /// Lets calls that may take long (millions of applicable actions) throw Stopped; nullptr for no watch.
    void set_watch(Watch *watch) { watch_ = watch; }
    Watch *watch() const { return watch_; }

protected:
    Watch *watch_ = nullptr;
};

}  // namespace gsp
