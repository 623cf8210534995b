#include "grounder.h"

#include <algorithm>

namespace gsp {
namespace {

bool contains(const std::vector<int32_t> &sorted, int32_t value) {
    return std::binary_search(sorted.begin(), sorted.end(), value);
}

void sort_unique(std::vector<int32_t> &values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Semi-naive: every reached atom in turn is the newest, and fires the instances in which it takes part.
class RelaxedReachability {
public:
    RelaxedReachability(const LiftedTask &task, Watch &watch) : task_(task), watch_(watch), database_(task) {}

    /// Tuples (schema, objects...) of all relaxed-reachable actions.
    void run() {
        for (const GroundAtom &atom : task_.init)
            if (task_.fluent[atom.predicate]) reach(database_.intern(atom.predicate, atom.args.data()));
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
                database_.match_newest(task_.schemas[s], j, args.data(), [&, s = s](const int32_t *b) { fire(s, b); });
        }
    }
    Database &database() { return database_; }
    const std::vector<int32_t> &reached() const { return queue_; }
    const TupleTable &actions() const { return actions_; }

private:
    void reach(int32_t atom) {
        if (static_cast<size_t>(atom) >= is_reached_.size()) is_reached_.resize(atom + atom / 2 + 1024, 0);
        if (is_reached_[atom]) return;
        is_reached_[atom] = 1;
        queue_.push_back(atom);
    }
    void fire(size_t s, const int32_t *binding) {
        watch_.throw_if_expired();
        const Schema &schema = task_.schemas[s];
        int32_t tuple[1 + LiftedTask::max_parameters];
        tuple[0] = static_cast<int32_t>(s);
        std::copy(binding, binding + schema.parameters.size(), tuple + 1);
        actions_.intern(0, tuple, schema.parameters.size() + 1);
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
    TupleTable actions_;
};

/// Turns tuples into ground actions over the atoms that matter: reached, and not true for ever.
class Instantiation {
public:
    Instantiation(const LiftedTask &task, RelaxedReachability &reachability, Watch &watch)
        : task_(task), watch_(watch), database_(reachability.database()), tuples_(reachability.actions()),
          state_(database_.atoms().size(), never) {
        for (int32_t atom : reachability.reached()) state_[atom] = always;  // until something deletes it
        for (const GroundAtom &atom : task.init)
            if (task.fluent[atom.predicate]) initial_.push_back(database_.intern(atom.predicate, atom.args.data()));
        sort_unique(initial_);
    }

    Grounding run(const std::vector<int32_t> &reached) {
        std::vector<char> in_init(state_.size(), 0);
        for (int32_t atom : initial_) in_init[atom] = 1;
        for (int32_t atom : reached)
            if (!in_init[atom]) state_[atom] = changes;
        mark_deleted();
        Grounding out;
        number_.assign(state_.size(), -1);
        for (int32_t atom : reached) {
            if (state_[atom] != changes) continue;
            number_[atom] = static_cast<int32_t>(out.atoms.size());
            int32_t predicate = database_.atoms().symbol(atom);
            const int32_t *args = database_.atoms().args(atom);
            out.atoms.push_back({predicate, {args, args + task_.arities[predicate]}});
            if (in_init[atom]) out.init.push_back(number_[atom]);
        }
        for (size_t t = 0; t < tuples_.size(); ++t) instantiate(static_cast<int32_t>(t), out);
        set_goal(out);
        return out;
    }

private:
    enum : char { never, always, changes };

    int32_t atom(const Literal &literal, const int32_t *binding) {
        int32_t args[LiftedTask::max_parameters];
        for (size_t i = 0; i < literal.args.size(); ++i) args[i] = ground_term(literal.args[i], binding);
        return database_.atoms().find(literal.predicate, args, literal.args.size());
    }
    void mark_deleted() {
        std::vector<int32_t> added;
        for (size_t t = 0; t < tuples_.size(); ++t) {
            watch_.throw_if_expired();
            const int32_t *tuple = tuples_.args(static_cast<int32_t>(t));
            const Schema &schema = task_.schemas[tuple[0]];
            added.clear();
            for (const Literal &literal : schema.add) added.push_back(atom(literal, tuple + 1));
            for (const Literal &literal : schema.del) {
                int32_t id = atom(literal, tuple + 1);
                if (id >= 0 && state_[id] == always && std::find(added.begin(), added.end(), id) == added.end())
                    state_[id] = changes;
            }
        }
    }
    void instantiate(int32_t t, Grounding &out) {
        watch_.throw_if_expired();
        const int32_t *tuple = tuples_.args(t);
        const int32_t *binding = tuple + 1;
        const Schema &schema = task_.schemas[tuple[0]];
        GroundAction action;
        for (const Literal &literal : schema.positive) {
            if (!task_.fluent[literal.predicate]) continue;
            int32_t id = atom(literal, binding);
            if (state_[id] == changes) action.pre.push_back(number_[id]);
        }
        for (const Literal &literal : schema.negative) {
            if (!task_.fluent[literal.predicate]) continue;
            int32_t id = atom(literal, binding);
            if (id < 0 || state_[id] == never) continue;
            if (state_[id] == always) return;
            action.neg.push_back(number_[id]);
        }
        for (const Literal &literal : schema.add)
            if (int32_t id = atom(literal, binding); state_[id] == changes) action.add.push_back(number_[id]);
        for (const Literal &literal : schema.del) {
            int32_t id = atom(literal, binding);
            if (id >= 0 && state_[id] == changes) action.del.push_back(number_[id]);
        }
        for (auto *part : {&action.pre, &action.neg, &action.add, &action.del}) sort_unique(*part);
        std::erase_if(action.del, [&](int32_t a) { return contains(action.add, a); });
        for (int32_t a : action.neg)
            if (contains(action.pre, a)) return;
        action.tuple.assign(tuple, tuple + tuples_.count(t));
        action.cost = task_.cost(schema, binding);
        out.actions.push_back(std::move(action));
    }
    void set_goal(Grounding &out) {
        auto find = [&](const GroundAtom &goal) {
            return database_.atoms().find(goal.predicate, goal.args.data(), goal.args.size());
        };
        for (const GroundAtom &goal : task_.goal_positive) {
            int32_t id = find(goal);
            if (!task_.fluent[goal.predicate]) out.solvable = out.solvable && id >= 0 && database_.holds(id);
            else if (id < 0 || state_[id] == never) out.solvable = false;
            else if (state_[id] == changes) out.goal_positive.push_back(number_[id]);
        }
        for (const GroundAtom &goal : task_.goal_negative) {
            int32_t id = find(goal);
            if (!task_.fluent[goal.predicate]) out.solvable = out.solvable && !(id >= 0 && database_.holds(id));
            else if (id >= 0 && state_[id] == always) out.solvable = false;
            else if (id >= 0 && state_[id] == changes) out.goal_negative.push_back(number_[id]);
        }
        sort_unique(out.goal_positive);
        sort_unique(out.goal_negative);
        for (int32_t a : out.goal_negative)
            if (contains(out.goal_positive, a)) out.solvable = false;
    }

    const LiftedTask &task_;
    Watch &watch_;
    Database &database_;
    const TupleTable &tuples_;
    std::vector<char> state_;
    std::vector<int32_t> initial_, number_;
};

}  // namespace

Grounding ground_actions(const LiftedTask &task, Watch &watch) {
    RelaxedReachability reachability(task, watch);
    reachability.run();
    return Instantiation(task, reachability, watch).run(reachability.reached());
}

}  // namespace gsp
