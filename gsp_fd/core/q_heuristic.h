// A learned Q-function as a heuristic: h(s, a) = -Q(s, a) of a model on the states of a lifted space.
#pragma once

#include "encoder.h"
#include "evaluator.h"

namespace gsp {

/// Q of every action of a batch, in its order; std::bad_alloc if the batch is too large for it, Stopped if the watch, where
/// there is one, says so.
using QFunction = std::function<std::vector<float>(const EncodedBatch &, Watch *)>;

/// In a lazy search every applicable action has its own value; elsewhere a state has -max_a Q(s, a), or infinity if nothing is
/// applicable. Goal states have 0. Values may be below 0 on states unlike those of training: their order still counts, so
/// they are not cut off.
class QHeuristic final : public Heuristic {
public:
    /// plans: knows relaxed plans, for an encoder that takes them, else null; messages_per_call: arguments of atoms that one
    /// batch should have, about; model: named in errors.
    QHeuristic(std::shared_ptr<const Encoder> encoder, std::shared_ptr<Heuristic> plans, QFunction q_function,
               double messages_per_call, std::string name, std::string model);

    void bind(StateSpace &space) override;
    bool batched() const override { return true; }
    bool per_operator() const override { return true; }
    bool safe() const override { return false; }
    void evaluate(std::span<const int32_t> states, double *values) override;
    void evaluate_operators(std::span<const int32_t> states, const Rows &operators, double *values) override;

private:
    size_t fill_batch(std::span<const int32_t> states, const Rows &operators, size_t first);

    std::shared_ptr<const Encoder> encoder_;
    std::shared_ptr<Heuristic> plans_;
    QFunction q_function_;
    double messages_per_call_;
    std::string model_;
    LiftedSpace *space_ = nullptr;
    EncodedBatch batch_;
    Rows plan_;
};

}  // namespace gsp
