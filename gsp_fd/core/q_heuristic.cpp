#include "q_heuristic.h"

#include <algorithm>
#include <cmath>

namespace gsp {

QHeuristic::QHeuristic(std::shared_ptr<const Encoder> encoder, std::shared_ptr<Heuristic> plans, QFunction q_function,
                       double messages_per_call, std::string name, std::string model)
    : Heuristic(std::move(name)), encoder_(std::move(encoder)), plans_(std::move(plans)), q_function_(std::move(q_function)),
      messages_per_call_(messages_per_call), model_(std::move(model)), batch_(encoder_->empty_batch()) {
    if (encoder_->takes_plans() && !plans_) throw InputError(model_ + ": the model sees relaxed plans, and nothing knows them");
}

void QHeuristic::bind(StateSpace &space) {
    space_ = dynamic_cast<LiftedSpace *>(&space);
    if (!space_ || &space_->task() != &encoder_->task())
        throw InputError("evaluator " + name + " needs a lifted space of the task that it was made for");
    if (plans_) plans_->bind(space);
}

void QHeuristic::evaluate(std::span<const int32_t> states, double *values) {
    Rows operators;
    for (size_t i = 0; i < states.size(); ++i) {
        space_->load(states[i]);
        values[i] = space_->is_goal() ? 0 : dead_end;
        if (values[i] == dead_end) space_->applicable(operators.values);
        operators.close();
    }
    std::vector<double> of_operators(operators.values.size());
    evaluate_operators(states, operators, of_operators.data());
    for (size_t i = 0; i < states.size(); ++i)
        for (int32_t k = operators.begin[i]; k < operators.begin[i + 1]; ++k) values[i] = std::min(values[i], of_operators[k]);
}

void QHeuristic::evaluate_operators(std::span<const int32_t> states, const Rows &operators, double *values) {
    for (size_t first = 0; first < states.size();) {
        size_t end = first;
        std::vector<float> q;
        try {
            end = fill_batch(states, operators, first);
            if (!batch_.action_node.empty()) q = q_function_(batch_, space_->watch());
        } catch (const std::bad_alloc &) {
            if (batch_.state_sizes.size() + (end == first) <= 1) throw;
            messages_per_call_ = static_cast<double>(batch_.messages()) / 2;
            batch_ = encoder_->empty_batch();
            continue;
        }
        if (q.size() != batch_.action_node.size())
            throw InputError(model_ + ": the model yields " + std::to_string(q.size()) + " Q-values for " +
                             std::to_string(batch_.action_node.size()) + " actions");
        if (!std::all_of(q.begin(), q.end(), [](float value) { return std::isfinite(value); }))
            throw InputError(model_ + ": the model yields Q-values that are no numbers: its weights are damaged");
        std::transform(q.begin(), q.end(), values + operators.begin[first], [](float value) { return -double(value); });
        first = end;
    }
}

/// Encodes states until the batch is large enough; returns the first that it leaves out.
size_t QHeuristic::fill_batch(std::span<const int32_t> states, const Rows &operators, size_t first) {
    batch_.clear();
    size_t i = first;
    for (; i < states.size() && static_cast<double>(batch_.messages()) < messages_per_call_; ++i) {
        if (operators[i].empty()) continue;
        plan_ = Rows{};
        if (plans_) plans_->relaxed_plan(states[i], plan_);
        encoder_->append_state(*space_, states[i], operators[i], plan_.values, batch_);
    }
    return i;
}

}  // namespace gsp
