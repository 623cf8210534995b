#include "state_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace gsp_heuristic {

static constexpr float unknown = std::numeric_limits<float>::quiet_NaN();
static constexpr float infinity = std::numeric_limits<float>::infinity();

TaskPtr read_task(const std::string &text, const std::string &source) {
    char error[1000] = "";
    TaskPtr task(gsp_task_read(text.data(), text.size(), error, sizeof(error)));
    if (!task) throw std::runtime_error(source + ": " + error);
    return task;
}

StateValues::StateValues(TaskPtr task, bool parent_q, size_t cache_bytes)
    : task_(std::move(task)), parent_q_(parent_q), cache_bytes_(cache_bytes) {}

void StateValues::set_parent(const std::vector<int32_t> &atoms) {
    if (gsp_state_bytes(task_.get()) + values_.size() * sizeof(float) > cache_bytes_) {
        gsp_forget_states(task_.get());
        values_.clear();
    }
    parent_ = gsp_state(task_.get(), atoms.data(), atoms.size());
    expanded_ = false;
}

float StateValues::value(const std::vector<int32_t> &atoms) {
    int32_t state = gsp_state(task_.get(), atoms.data(), atoms.size());
    if (known(state)) return values_[state];
    if (parent_ >= 0) {
        if (!std::exchange(expanded_, true)) parent_q_ ? evaluate_actions() : evaluate_successors();
        strangers_ += !known(state);
    }
    if (!known(state)) evaluate({state});
    return values_[state];
}

bool StateValues::known(int32_t state) {
    auto count = static_cast<size_t>(gsp_num_states(task_.get()));
    if (values_.size() < count) values_.resize(count, unknown);
    return !std::isnan(values_[state]);
}

size_t StateValues::count_successors(const int32_t **successors, const int32_t **costs) {
    size_t count = gsp_successors(task_.get(), parent_, successors, costs);
    if (count == GSP_FAILED) throw std::runtime_error(gsp_error(task_.get()));
    return count;
}

void StateValues::evaluate_successors() {
    const int32_t *successors, *costs;
    size_t count = count_successors(&successors, &costs);
    evaluate({successors, successors + count});
}

void StateValues::evaluate_actions() {
    const int32_t *first_successor, *first_cost;
    size_t count = count_successors(&first_successor, &first_cost);
    const std::vector<int32_t> successors(first_successor, first_successor + count), costs(first_cost, first_cost + count);
    computed_.resize(count);
    check(gsp_action_values(task_.get(), parent_, computed_.data()));
    // Successors that are known keep their value; one that several actions lead to gets the best of them.
    const std::vector<int32_t> fresh = unknown_among(successors);
    for (int32_t state : fresh) values_[state] = infinity;
    for (size_t i = 0; i < count; ++i)
        if (std::binary_search(fresh.begin(), fresh.end(), successors[i]))
            values_[successors[i]] = std::min(values_[successors[i]], static_cast<float>(computed_[i] - costs[i]));
}

void StateValues::evaluate(std::vector<int32_t> states) {
    states = unknown_among(std::move(states));
    if (states.empty()) return;
    computed_.resize(states.size());
    check(gsp_values(task_.get(), states.data(), states.size(), computed_.data()));
    for (size_t i = 0; i < states.size(); ++i) values_[states[i]] = static_cast<float>(computed_[i]);
}

/// Each state without a value once, in order.
std::vector<int32_t> StateValues::unknown_among(std::vector<int32_t> states) {
    std::sort(states.begin(), states.end());
    states.erase(std::unique(states.begin(), states.end()), states.end());
    std::erase_if(states, [&](int32_t state) { return known(state); });
    return states;
}

void StateValues::check(int done) {
    ++calls_;
    if (!done) throw std::runtime_error(gsp_error(task_.get()));
}

}  // namespace gsp_heuristic
