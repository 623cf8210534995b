#include "state_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace gsp_heuristic {

// As in gsp_fd/inference.py: larger batches are split.
static constexpr size_t max_messages = 100'000;
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

void StateValues::evaluate_successors() {
    const int32_t *successors, *costs;
    size_t count = gsp_successors(task_.get(), parent_, &successors, &costs);
    pending_.assign(successors, successors + count);
    evaluate(pending_);
}

void StateValues::evaluate_actions() {
    const int32_t *successors, *costs;
    size_t count = gsp_successors(task_.get(), parent_, &successors, &costs);
    pending_.assign(successors, successors + count);
    costs_.assign(costs, costs + count);
    if (gsp_batch_add(task_.get(), parent_) != GSP_INNER) return;
    std::span<const float> q = q_values();
    gsp_batch_clear(task_.get());
    // Successors that are known keep their value; one that several actions lead to gets the best of them.
    batch_.clear();
    for (int32_t state : pending_)
        if (!known(state)) batch_.push_back(state), values_[state] = infinity;
    std::sort(batch_.begin(), batch_.end());
    for (size_t i = 0; i < count; ++i)
        if (std::binary_search(batch_.begin(), batch_.end(), pending_[i]))
            values_[pending_[i]] = std::min(values_[pending_[i]], -q[i] - static_cast<float>(costs_[i]));
    batch_.clear();
}

void StateValues::evaluate(const std::vector<int32_t> &states) {
    for (int32_t state : states) {
        if (known(state)) continue;
        gsp_kind kind = gsp_batch_add(task_.get(), state);
        values_[state] = kind == GSP_GOAL ? 0 : infinity;
        if (kind != GSP_INNER) continue;
        batch_.push_back(state);
        if (gsp_batch_messages(task_.get()) > max_messages) run();
    }
    if (!batch_.empty()) run();
}

/// The minimum of -Q over the actions of each state in the batch.
void StateValues::run() {
    std::span<const float> q = q_values();
    size_t count;
    const int64_t *states = gsp_batch_action_states(task_.get(), &count);
    for (size_t i = 0; i < count; ++i) {
        float &value = values_[batch_[states[i]]];
        value = std::min(value, -q[i]);
    }
    gsp_batch_clear(task_.get());
    batch_.clear();
}

std::span<const float> StateValues::q_values() {
    size_t count;
    const float *q = gsp_batch_q_values(task_.get(), &count);
    ++calls_;
    if (!std::all_of(q, q + count, [](float value) { return std::isfinite(value); }))
        throw std::runtime_error(gsp_task_model(task_.get()) +
                                 std::string(" yields Q-values that are no numbers: its weights are damaged"));
    return {q, count};
}

}  // namespace gsp_heuristic
