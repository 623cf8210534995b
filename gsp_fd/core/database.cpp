#include "database.h"

#include <algorithm>

namespace gsp {

Database::Database(const LiftedTask &task) : task_(task), relations_(task.predicates.size()) {
    for (size_t p = 0; p < relations_.size(); ++p) {
        relations_[p].arity = task.arities[p];
        relations_[p].by_argument.resize(static_cast<size_t>(task.arities[p]) * task.objects.size());
    }
    for (const GroundAtom &atom : task.init)
        if (!task.fluent[atom.predicate]) add(intern(atom.predicate, atom.args.data()));
}

void Database::add(int32_t atom) {
    if (truth_[atom]) return;
    truth_[atom] = 1;
    int32_t predicate = atoms_.symbol(atom);
    Relation &relation = relations_[predicate];
    const int32_t *args = atoms_.args(atom);
    for (int32_t i = 0; i < relation.arity; ++i) {
        size_t slot = i * task_.objects.size() + args[i];
        if (relation.by_argument[slot].empty()) relation.touched.push_back(static_cast<int32_t>(slot));
        relation.by_argument[slot].push_back(relation.size);
    }
    relation.tuples.insert(relation.tuples.end(), args, args + relation.arity);
    ++relation.size;
    if (task_.fluent[predicate]) true_fluents_.push_back(atom);
}

void Database::clear_fluents() {
    for (int32_t atom : true_fluents_) truth_[atom] = 0;
    true_fluents_.clear();
    for (size_t p = 0; p < relations_.size(); ++p) {
        if (!task_.fluent[p]) continue;
        Relation &relation = relations_[p];
        for (int32_t slot : relation.touched) relation.by_argument[slot].clear();
        relation.touched.clear();
        relation.tuples.clear();
        relation.size = 0;
    }
}

/// Atoms were appended everywhere, so they are taken away from the ends.
void Database::forget(size_t num_fluents) {
    for (; true_fluents_.size() > num_fluents; true_fluents_.pop_back()) {
        int32_t atom = true_fluents_.back();
        truth_[atom] = 0;
        Relation &relation = relations_[atoms_.symbol(atom)];
        const int32_t *args = atoms_.args(atom);
        for (int32_t i = relation.arity; i-- > 0;) {
            auto &with = relation.by_argument[i * task_.objects.size() + args[i]];
            with.pop_back();
            if (with.empty()) relation.touched.pop_back();
        }
        relation.tuples.resize(relation.tuples.size() - relation.arity);
        --relation.size;
    }
}

bool Database::constraints_hold() const {
    for (auto [a, b] : rule_->equal)
        if (ground_term(a, binding_) != ground_term(b, binding_)) return false;
    for (auto [a, b] : rule_->unequal)
        if (ground_term(a, binding_) == ground_term(b, binding_)) return false;
    int32_t args[LiftedTask::max_parameters];
    for (const Literal &literal : rule_->negative) {
        if (relaxed_ && task_.fluent[literal.predicate]) continue;
        ground(literal, args);
        if (!is_negated(literal.predicate, args)) return false;
    }
    return true;
}

}  // namespace gsp
