#include "grounder.h"

#include <algorithm>

#include "reachability.h"

namespace gsp {
namespace {

bool contains(const std::vector<int32_t> &sorted, int32_t value) {
    return std::binary_search(sorted.begin(), sorted.end(), value);
}

void sort_unique(std::vector<int32_t> &values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Turns tuples into ground actions over the atoms that matter: reached, and not true for ever.
class Instantiation {
public:
    Instantiation(const LiftedTask &task, Reachability &reachability, const Rows &tuples, Watch &watch)
        : task_(task), watch_(watch), database_(reachability.database()), tuples_(tuples),
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
        for (size_t t = 0; t < tuples_.size(); ++t) instantiate(tuples_[t], out);
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
            const int32_t *tuple = tuples_[t].data();
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
    void instantiate(std::span<const int32_t> tuple, Grounding &out) {
        watch_.throw_if_expired();
        const int32_t *binding = tuple.data() + 1;
        const Schema &schema = task_.schemas[tuple[0]];
        for (auto *part : {&pre_, &neg_, &add_, &del_}) part->clear();
        for (const Literal &literal : schema.positive) {
            if (!task_.fluent[literal.predicate]) continue;
            int32_t id = atom(literal, binding);
            if (state_[id] == changes) pre_.push_back(number_[id]);
        }
        for (const Literal &literal : schema.negative) {
            if (!task_.fluent[literal.predicate]) continue;
            int32_t id = atom(literal, binding);
            if (id < 0 || state_[id] == never) continue;
            if (state_[id] == always) return;
            neg_.push_back(number_[id]);
        }
        for (const Literal &literal : schema.add)
            if (int32_t id = atom(literal, binding); state_[id] == changes) add_.push_back(number_[id]);
        for (const Literal &literal : schema.del) {
            int32_t id = atom(literal, binding);
            if (id >= 0 && state_[id] == changes) del_.push_back(number_[id]);
        }
        for (auto *part : {&pre_, &neg_, &add_, &del_}) sort_unique(*part);
        std::erase_if(del_, [&](int32_t a) { return contains(add_, a); });
        for (int32_t a : neg_)
            if (contains(pre_, a)) return;
        out.before_growth(watch_);
        out.add_action({pre_, neg_, add_, del_, tuple, task_.cost(schema, binding)});
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
    const Rows &tuples_;
    std::vector<char> state_;
    std::vector<int32_t> initial_, number_;
    std::vector<int32_t> pre_, neg_, add_, del_;  // buffers
};

}  // namespace

std::optional<Grounding> ground_actions(const LiftedTask &task, size_t max_actions, Watch &watch) {
    Reachability reachability(task, watch);
    Rows tuples;
    struct TooMany {};
    try {
        reachability.run([&](size_t schema, const int32_t *binding) {
            if (tuples.size() == max_actions) throw TooMany();
            watch.before_growth(tuples.values, tuples.begin);
            tuples.values.push_back(static_cast<int32_t>(schema));
            tuples.values.insert(tuples.values.end(), binding, binding + task.schemas[schema].parameters.size());
            tuples.close();
        });
    } catch (const TooMany &) {
        return std::nullopt;
    }
    return Instantiation(task, reachability, tuples, watch).run(reachability.reached());
}

}  // namespace gsp
