// What those share who know the atoms and actions of a lifted task by numbers of their own and look at a lifted space.
#pragma once

#include "lifted_space.h"
#include "relaxed_task.h"

namespace gsp {

class LiftedStates {
public:
    /// `atoms`: those with numbers of one's own.
    LiftedStates(LiftedSpace &space, const TupleTable &atoms) : space_(space), atoms_(atoms) {}

protected:
    /// One's own number for an atom of the space, or -1.
    int32_t lookup(int32_t atom) {
        if (static_cast<size_t>(atom) >= known_.size()) known_.resize(atom + atom / 2 + 64, unknown);
        if (known_[atom] == unknown) {
            const TupleTable &own = space_.database().atoms();
            known_[atom] = atoms_.find(own.symbol(atom), own.args(atom), own.count(atom));
        }
        return known_[atom];
    }
    /// The operator of the space that (schema, objects...) is in the current state, or -1 if it is not applicable.
    int32_t applicable_tuple(std::span<const int32_t> tuple) {
        space_.load(state_);
        return space_.is_applicable(tuple) ? space_.insert_representative(tuple) : -1;
    }
    LiftedSpace &space_;
    int32_t state_ = -1;  // the current one

private:
    static constexpr int32_t unknown = -2;
    const TupleTable &atoms_;
    std::vector<int32_t> known_;
};

/// An atom as relaxed plans have those that they add: (~predicate, objects...).
inline void push_added(const TupleTable &atoms, int32_t atom, Rows &rows) {
    rows.values.push_back(~atoms.symbol(atom));
    rows.values.insert(rows.values.end(), atoms.args(atom), atoms.args(atom) + atoms.count(atom));
    rows.close();
}

class LiftedView : public RelaxedView, protected LiftedStates {
public:
    using LiftedStates::LiftedStates;
    int32_t applicable(int32_t action) override { return applicable_tuple(tuple(action)); }
};

}  // namespace gsp
