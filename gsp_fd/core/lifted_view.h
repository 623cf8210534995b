// What relaxed tasks that know schemas and objects share when they look at a lifted space.
#pragma once

#include "lifted_space.h"
#include "relaxed_task.h"

namespace gsp {

class LiftedView : public RelaxedView {
public:
    /// `atoms`: the atoms that the relaxed task knows.
    LiftedView(LiftedSpace &space, const TupleTable &atoms) : space_(space), atoms_(atoms) {}
    int32_t applicable(int32_t action) override {
        auto row = tuple(action);
        space_.load(state_);
        return space_.is_applicable(row) ? space_.insert_representative(row) : -1;
    }

protected:
    /// The number that the relaxed task has for an atom of the space, or -1.
    int32_t lookup(int32_t atom) {
        if (static_cast<size_t>(atom) >= known_.size()) known_.resize(atom + atom / 2 + 64, unknown);
        if (known_[atom] == unknown) {
            const TupleTable &own = space_.database().atoms();
            known_[atom] = atoms_.find(own.symbol(atom), own.args(atom), own.count(atom));
        }
        return known_[atom];
    }
    LiftedSpace &space_;
    int32_t state_ = -1;  // the current one

private:
    static constexpr int32_t unknown = -2;
    const TupleTable &atoms_;
    std::vector<int32_t> known_;
};

}  // namespace gsp
