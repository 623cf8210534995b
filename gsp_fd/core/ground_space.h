// States of a ground task, bit-packed as in Fast Downward; derived variables are computed when a state is loaded.
#pragma once

#include "ground_task.h"
#include "state_space.h"

namespace gsp {

class GroundSpace final : public StateSpace {
public:
    explicit GroundSpace(std::shared_ptr<const GroundTask> task);

    int32_t initial_state() override;
    void load(int32_t state) override;
    int32_t unsatisfied_goals() override {
        int32_t open = 0;
        for (const Fact &fact : task_->goal) open += values_[fact.variable] != fact.value;
        return open;
    }
    bool is_goal() override { return task_->is_goal(values_.data()); }
    void applicable(std::vector<int32_t> &operators) override { task_->applicable(values_.data(), operators); }
    int32_t apply(int32_t op) override;
    int32_t find_successor(int32_t op) override;

    int32_t cost(int32_t op) const override { return task_->operators[op].cost; }
    bool unit_cost() const override { return task_->unit_cost; }
    int32_t min_cost() const override { return task_->min_cost; }
    size_t num_states() const override { return states_.size(); }
    size_t state_bytes() const override { return states_.bytes() + index_.bytes(); }
    size_t num_operators() const override { return task_->operators.size(); }
    std::string operator_name(int32_t op) const override { return task_->operator_name(op); }

    const GroundTask &task() const { return *task_; }
    std::shared_ptr<const GroundTask> shared_task() const { return task_; }
    /// Values of all variables of the current state.
    const int32_t *values() const { return values_.data(); }
    void unpack(int32_t state, int32_t *values) const;
    /// The number of a state given by its values, new or known (derived values are ignored).
    int32_t insert(const int32_t *values);

private:
    struct Slot {
        uint32_t word, shift, mask;  // mask == 0: a derived variable, not stored
    };
    struct FlatEffect {
        int32_t variable, value, condition_begin, condition_end;
    };
    void set(uint32_t *words, int32_t variable, int32_t value) const {
        const Slot &slot = slots_[variable];
        words[slot.word] = (words[slot.word] & ~(slot.mask << slot.shift)) |
                           (static_cast<uint32_t>(value) << slot.shift);
    }
    /// Puts the successor of the current state behind the registered ones, and returns its hash.
    uint64_t push_successor(int32_t op);
    int32_t register_row(uint64_t hash);

    std::shared_ptr<const GroundTask> task_;
    std::vector<Slot> slots_;
    size_t words_ = 1;
    SegmentedRows<uint32_t> states_;
    RowSet index_;
    std::vector<uint64_t> zobrist_;  // per fact
    std::vector<int32_t> effect_begin_;
    std::vector<FlatEffect> effects_;
    std::vector<Fact> conditions_;

    int32_t current_ = -1;
    std::vector<int32_t> values_;
    uint64_t hash_ = 0;
};

}  // namespace gsp
