// Relaxed reachability: every instance of a schema that can be reached if nothing is ever deleted.
#pragma once

#include "database.h"

namespace gsp {

/// Semi-naive: every reached atom in turn is the newest, and fires the instances in which it takes part. So every instance is
/// found exactly once, after everything it needs.
class Reachability {
public:
    Reachability(const LiftedTask &task, Watch &watch) : task_(task), watch_(watch), database_(task) {}

    /// Calls found(schema, binding) for every instance.
    template<class Found>
    void run(Found &&found) {
        for (const GroundAtom &atom : task_.init)
            if (task_.fluent[atom.predicate]) reach(database_.intern(atom.predicate, atom.args.data()));
        auto fire = [&](size_t s, const int32_t *binding) {
            watch_.step();
            found(s, binding);
            reach_effects(task_.schemas[s], binding);
        };
        std::vector<std::vector<std::pair<size_t, size_t>>> readers(task_.predicates.size());  // (schema, literal)
        for (size_t s = 0; s < task_.schemas.size(); ++s) {
            const Schema &schema = task_.schemas[s];
            bool waits = false;
            for (size_t j = 0; j < schema.positive.size(); ++j) {
                if (!task_.fluent[schema.positive[j].predicate]) continue;
                readers[schema.positive[j].predicate].emplace_back(s, j);
                waits = true;
            }
            if (!waits) database_.match(schema, true, [&](const int32_t *binding) { fire(s, binding); });
        }
        std::vector<int32_t> args;
        for (size_t next = 0; next < queue_.size(); ++next) {
            int32_t atom = queue_[next];
            int32_t predicate = database_.atoms().symbol(atom);
            const int32_t *stored = database_.atoms().args(atom);
            args.assign(stored, stored + task_.arities[predicate]);
            database_.add(atom);
            for (auto [s, j] : readers[predicate])
                database_.match_newest(task_.schemas[s], j, args.data(), true, [&, s = s](const int32_t *b) { fire(s, b); });
        }
    }
    Database &database() { return database_; }
    /// Reached fluent atoms, in the order in which they were reached.
    const std::vector<int32_t> &reached() const { return queue_; }
    bool is_reached(int32_t atom) const { return static_cast<size_t>(atom) < is_reached_.size() && is_reached_[atom]; }

private:
    void reach(int32_t atom) {
        if (static_cast<size_t>(atom) >= is_reached_.size()) is_reached_.resize(atom + atom / 2 + 1024, 0);
        if (is_reached_[atom]) return;
        is_reached_[atom] = 1;
        watch_.before_growth(queue_);
        queue_.push_back(atom);
    }
    void reach_effects(const Schema &schema, const int32_t *binding) {
        int32_t args[LiftedTask::max_parameters];
        for (const Literal &literal : schema.add) {
            for (size_t i = 0; i < literal.args.size(); ++i) args[i] = ground_term(literal.args[i], binding);
            reach(database_.intern(literal.predicate, args));
        }
    }

    const LiftedTask &task_;
    Watch &watch_;
    Database database_;
    std::vector<char> is_reached_;
    std::vector<int32_t> queue_;
};

}  // namespace gsp
