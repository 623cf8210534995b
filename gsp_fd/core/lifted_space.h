// States of a lifted task: sorted atom numbers, registered with an incremental hash. Nothing is grounded ahead.
#pragma once

#include <optional>

#include "axioms.h"
#include "relevance.h"
#include "state_space.h"

namespace gsp {

class LiftedSpace final : public StateSpace {
public:
    /// With symmetry, one applicable action stands for all that interchangeable objects make equivalent. With `relevant_only`,
    /// actions that no plan needs are left out.
    LiftedSpace(std::shared_ptr<const LiftedTask> task, bool symmetry, bool relevant_only = false);

    int32_t initial_state() override { return initial_; }
    void load(int32_t state) override;
    int32_t unsatisfied_goals() override;
    void applicable(std::vector<int32_t> &operators) override;
    int32_t apply(int32_t op) override;
    int32_t find_successor(int32_t op) override;

    int32_t cost(int32_t op) const override { return costs_[op]; }
    bool unit_cost() const override { return task_->unit_cost; }
    int32_t min_cost() const override { return task_->min_cost; }
    size_t num_states() const override { return rows_.size(); }
    size_t state_bytes() const override;
    std::string operator_name(int32_t op) const override;

    const LiftedTask &task() const { return *task_; }
    std::shared_ptr<const LiftedTask> shared_task() const { return task_; }
    Database &database() { return database_; }
    /// Fluent atoms of a state, sorted.
    std::span<const int32_t> atoms(int32_t state) const { return {rows_[state].atoms, rows_[state].count}; }
    /// The number of a state given by its fluent atoms, new or known.
    int32_t insert(std::vector<int32_t> atoms) { return insert_sorting(atoms); }
    /// The same without a copy: sorts the caller's buffer in place.
    int32_t insert_sorting(std::vector<int32_t> &atoms);
    /// The atoms that follow from those of the current state by axioms.
    std::span<const int32_t> derived_atoms() const { return derived_; }
    /// Atom numbers of the goal, in the task's order.
    std::span<const int32_t> goal_positive() const { return goal_positive_; }
    std::span<const int32_t> goal_negative() const { return goal_negative_; }
    /// Actions generated so far, and how many there are without symmetry reduction.
    int64_t generated_actions() const { return generated_; }
    double represented_actions() const { return represented_; }
    size_t num_operators() const override { return actions_.size(); }
    /// (schema, objects...) of an operator.
    std::span<const int32_t> action(int32_t op) const { return {actions_.args(op), actions_.count(op)}; }
    /// The number of the operator (schema, objects...), new or known.
    int32_t insert_action(std::span<const int32_t> tuple) {
        int32_t id = actions_.intern(0, tuple.data(), tuple.size());
        if (static_cast<size_t>(id) == costs_.size()) costs_.push_back(task_->cost(task_->schemas[tuple[0]], tuple.data() + 1));
        return id;
    }

    /// Whether the preconditions of (schema, objects...) over atoms hold in the current state.
    bool is_applicable(std::span<const int32_t> tuple);
    /// The number of the operator that `applicable` yields for (schema, objects...) or, with symmetry, instead of it.
    int32_t insert_representative(std::span<const int32_t> tuple);

private:
    struct Row {
        const int32_t *atoms;
        uint32_t count;
        uint64_t hash;
    };
    bool is_row(int32_t row, const std::vector<int32_t> &atoms, uint64_t hash) const {
        return rows_[row].hash == hash && rows_[row].count == atoms.size() &&
               std::equal(atoms.begin(), atoms.end(), rows_[row].atoms);
    }
    /// Finds the instances of a rule for the actions of a schema; several may be of the same action.
    void add_instances(int32_t schema, const Rule &rule, std::vector<int32_t> &operators);
    bool holds_for(const Rule &rule, std::span<const int32_t> args);
    /// False if it adds an atom without a number and gives none.
    bool ground_effects(const Rule &rule, const int32_t *binding, bool known_only);
    bool matters(int32_t op);
    int32_t register_row(const std::vector<int32_t> &atoms, uint64_t hash);
    /// Finds what an operator adds and deletes, and returns the hash of the current state's successor. With `known_only` atoms get
    /// no new numbers, and there is no hash if one that is added has none: no registered state has it.
    std::optional<uint64_t> find_effects(int32_t op, bool known_only);
    /// Puts the atoms of that successor into the buffer.
    void fill_successor();
    /// Makes the classes of objects those of the current state.
    void classify();
    uint64_t zobrist(int32_t atom) const { return mix(static_cast<uint64_t>(atom) + 1); }

    std::shared_ptr<const LiftedTask> task_;
    Database database_;
    TupleTable actions_;  // symbol 0, tuple (schema, objects...)
    std::vector<int32_t> costs_;
    std::vector<Row> rows_;
    RowSet index_;
    std::vector<std::unique_ptr<int32_t[]>> chunks_;
    size_t chunk_used_ = 0, chunk_size_ = 0, pool_ints_ = 0;
    std::vector<int32_t> goal_positive_, goal_negative_;
    int32_t initial_ = -1, current_ = -1;
    Axioms axioms_;
    std::vector<int32_t> derived_;
    std::vector<int32_t> buffer_, added_, deleted_;
    std::vector<int64_t> listed_;  // per operator: the last list that it is in, where instances may be of the same action
    int64_t lists_ = 0;
    std::unique_ptr<ObjectClasses> classes_;
    std::unique_ptr<Relevance> relevance_;  // where it leaves out actions
    std::vector<signed char> matters_;      // per operator, -1: not known yet
    int32_t classified_ = -1;
    int64_t generated_ = 0;
    double represented_ = 0;
};

}  // namespace gsp
