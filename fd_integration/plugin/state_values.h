// Heuristic values of states by the network of a task, many in one call. Knows nothing of Fast Downward.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "c_api.h"

namespace gsp_heuristic {

struct FreeTask {
    void operator()(gsp_task *task) const { gsp_task_free(task); }
};
using TaskPtr = std::unique_ptr<gsp_task, FreeTask>;

/// A task from the text of a task file; std::runtime_error with what is wrong. `source` is named in that message.
TaskPtr read_task(const std::string &text, const std::string &source);

/// h(s) = -max_a Q(s, a): 0 in goal states, infinity where no action is applicable.
///
/// When a search asks for a successor of the current parent that has no value yet, all successors of the parent get theirs in
/// one call of the network. States are kept with their values up to a limit, then all are forgotten.
class StateValues {
public:
    /// parent_q: the successor by action a has -Q(parent, a) - cost(a) instead, so that a call is about the parent alone.
    StateValues(TaskPtr task, bool parent_q, size_t cache_bytes);

    gsp_task &task() { return *task_; }
    /// The states that are asked for next are its successors.
    void set_parent(const std::vector<int32_t> &atoms);
    void forget_parent() { parent_ = -1; }
    /// std::runtime_error if the network yields something that is no number.
    float value(const std::vector<int32_t> &atoms);
    /// Values that were asked for although the parent has no such successor: its atoms are not all known.
    int64_t strangers() const { return strangers_; }
    int64_t network_calls() const { return calls_; }

private:
    bool known(int32_t state);
    size_t count_successors(const int32_t **successors, const int32_t **costs);
    void evaluate_successors();
    void evaluate_actions();
    void evaluate(std::vector<int32_t> states);
    std::vector<int32_t> unknown_among(std::vector<int32_t> states);
    void check(int done);

    TaskPtr task_;
    bool parent_q_;
    size_t cache_bytes_;
    std::vector<float> values_;                  // by state; NaN: not known
    std::vector<double> computed_;               // buffer
    int32_t parent_ = -1;
    bool expanded_ = false;                      // the successors of the parent have their values
    int64_t strangers_ = 0, calls_ = 0;
};

}  // namespace gsp_heuristic
