#include "ground_values.h"

#include "ground_space.h"
#include "lifted_view.h"

namespace gsp {
namespace {

class GroundValues final : public StateValues {
public:
    explicit GroundValues(GroundSpace &space) : space_(space) {}
    const int32_t *load(int32_t state) override {
        space_.load(state);
        return space_.values();
    }
    int32_t applicable(int32_t op) override {
        for (const Fact &fact : space_.task().operators[op].preconditions)
            if (space_.values()[fact.variable] != fact.value) return -1;
        return op;
    }

private:
    GroundSpace &space_;
};

/// States of a lifted space as the ground task has them that was made from the same lifted task.
class LiftedValues final : public StateValues, LiftedStates {
public:
    LiftedValues(LiftedSpace &space, const GroundTask &task, const TupleTable &atoms)
        : LiftedStates(space, atoms), task_(task), empty_(task.empty_values.empty() ? task.initial : task.empty_values) {}
    const int32_t *load(int32_t state) override {
        if (state == state_) return values_.data();
        state_ = state;
        values_ = empty_;
        for (int32_t atom : space_.atoms(state)) {
            int32_t index = lookup(atom);
            if (index < 0) continue;
            const GroundTask::AtomFacts &known = task_.atom_facts[index];
            if (known.fact.variable >= 0) values_[known.fact.variable] = known.fact.value;
            if (known.mirror.variable >= 0) values_[known.mirror.variable] = known.mirror.value;
        }
        task_.evaluate_axioms(values_.data());
        return values_.data();
    }
    int32_t applicable(int32_t op) override { return applicable_tuple(task_.operator_tuples[op]); }

private:
    const GroundTask &task_;
    const std::vector<int32_t> &empty_;
    std::vector<int32_t> values_;
};

}  // namespace

TupleTable fluent_atoms(const GroundTask &task) {
    TupleTable atoms;
    for (const auto &atom : task.atom_facts) atoms.intern(atom.predicate, atom.args.data(), atom.args.size());
    return atoms;
}

std::unique_ptr<StateValues> values_of(StateSpace &space, const GroundTask &task, const TupleTable &atoms) {
    if (auto *own = dynamic_cast<GroundSpace *>(&space); own && &own->task() == &task)
        return std::make_unique<GroundValues>(*own);
    if (auto *lifted = dynamic_cast<LiftedSpace *>(&space); lifted && task.lifted)
        return std::make_unique<LiftedValues>(*lifted, task, atoms);
    return nullptr;
}

}  // namespace gsp
