// Finished episodes as flat numbers, so that search workers can send them and checkpoints can keep them.
//
// A record is: expansions, plan length; then four lists, each with its length in front:
// the atoms that the task's own numbering lacks (predicate, objects...), the states (count, atoms...), the operators (schema,
// objects...) with the states' actions (count, operators...) and relaxed plans (count, operators as (schema, objects...)), and
// the transitions (state, action, successor, cost, kind, best return of exact ones).
#include "episode.h"

#include <algorithm>
#include <numeric>

namespace gsp {
namespace {

/// Reads a record; whatever does not fit is an error, since a file may be damaged.
class Reader {
public:
    explicit Reader(std::span<const int32_t> record) : rest_(record) {}

    int32_t next(int64_t least = 0, int64_t limit = INT32_MAX) { return in_range(take(1)[0], least, limit); }
    std::span<const int32_t> take(size_t count) {
        if (count > rest_.size()) throw InputError("the record of an episode is too short");
        auto part = rest_.first(count);
        rest_ = rest_.subspan(count);
        return part;
    }
    static int32_t in_range(int32_t value, int64_t least, int64_t limit) {
        if (value < least || value >= limit) throw InputError("the record of an episode does not fit its task");
        return value;
    }
    std::span<const int32_t> take_objects(size_t count, size_t objects) {
        auto part = take(count);
        for (int32_t object : part) in_range(object, 0, static_cast<int64_t>(objects));
        return part;
    }
    bool is_over() const { return rest_.empty(); }
    void end() const {
        if (!is_over()) throw InputError("the record of an episode is too long");
    }

private:
    std::span<const int32_t> rest_;
};

/// New numbers for the old ones that are in use, in the same order.
struct Renumbering {
    std::vector<int32_t> old;
    std::vector<int32_t> fresh;  // -1: not in use
    Renumbering(std::vector<int32_t> used, size_t count) : old(std::move(used)), fresh(count, -1) {
        std::sort(old.begin(), old.end());
        old.erase(std::unique(old.begin(), old.end()), old.end());
        for (size_t i = 0; i < old.size(); ++i) fresh[old[i]] = static_cast<int32_t>(i);
    }
};

template<class Values>
void append(std::vector<int32_t> &out, const Values &values) {
    out.insert(out.end(), values.begin(), values.end());
}

}  // namespace

std::vector<int32_t> Episode::record(bool plan_only) {
    std::vector<int32_t> kept = plan_transitions();
    std::vector<int32_t> used_states{space_.initial_state()};
    if (plan_only) {
        for (int32_t t : kept) used_states.push_back(transitions_[t].successor);
    } else {
        kept.resize(transitions_.size());
        std::iota(kept.begin(), kept.end(), 0);
        used_states.resize(space_.num_states());
        std::iota(used_states.begin(), used_states.end(), 0);
    }
    Renumbering states(std::move(used_states), space_.num_states());
    std::vector<int32_t> used_atoms, used_operators;
    auto own = static_cast<int32_t>(own_atoms_);
    for (int32_t state : states.old) {
        for (int32_t atom : space_.atoms(state))
            if (atom >= own) used_atoms.push_back(atom);
        append(used_operators, actions(state));
    }
    const TupleTable &table = space_.database().atoms();
    Renumbering atoms(std::move(used_atoms), table.size()), operators(std::move(used_operators), space_.num_operators());

    std::vector<int32_t> out{static_cast<int32_t>(expansions_), static_cast<int32_t>(plan_length_)};
    auto list = [&](size_t size) { out.push_back(static_cast<int32_t>(size)); };
    list(atoms.old.size());
    for (int32_t atom : atoms.old) {
        out.push_back(table.symbol(atom));
        append(out, std::span(table.args(atom), table.count(atom)));
    }
    list(states.old.size());
    for (int32_t state : states.old) {
        list(space_.atoms(state).size());
        for (int32_t atom : space_.atoms(state)) out.push_back(atom < own ? atom : own + atoms.fresh[atom]);
    }
    list(operators.old.size());
    for (int32_t op : operators.old) append(out, space_.action(op));
    for (int32_t state : states.old) {
        list(actions(state).size());
        for (int32_t op : actions(state)) out.push_back(operators.fresh[op]);
    }
    for (int32_t state : states.old) {
        list(relaxed_plan(state).size());
        append(out, relaxed_plan(state));
    }
    list(kept.size());
    for (int32_t number : kept) {
        const Transition &t = transitions_[number];
        append(out, std::initializer_list<int32_t>{states.fresh[t.state], t.action, states.fresh[t.successor], t.cost,
                                                   static_cast<int32_t>(t.kind),
                                                   t.kind == TransitionKind::exact ? static_cast<int32_t>(t.bound) : 0});
    }
    return out;
}

std::unique_ptr<Episode> Episode::restore(std::shared_ptr<const LiftedTask> task, std::span<const int32_t> record) {
    std::unique_ptr<Episode> episode(new Episode(std::move(task), false));
    Episode &e = *episode;
    const LiftedTask &t = e.space_.task();
    Reader in(record);
    e.expansions_ = in.next();
    e.plan_length_ = in.next(-1);
    for (int32_t count = in.next(), i = 0; i < count; ++i) {
        int32_t predicate = in.next(0, t.predicates.size());
        if (!t.is_stored(predicate)) throw InputError("the record of an episode does not fit its task");
        e.space_.database().intern(predicate, in.take_objects(t.arities[predicate], t.objects.size()).data());
    }
    auto known_atoms = static_cast<int64_t>(e.space_.database().atoms().size());
    int32_t num_states = in.next(1);
    for (int32_t state = 0; state < num_states; ++state) {
        auto row = in.take(in.next());
        for (int32_t atom : row) {
            Reader::in_range(atom, 0, known_atoms);
            if (!t.is_stored(e.space_.database().atoms().symbol(atom))) throw InputError("the record of an episode does not fit its task");
        }
        if (e.space_.insert({row.begin(), row.end()}) != state) throw InputError("the record of an episode repeats a state");
    }
    int32_t num_operators = in.next();
    std::vector<int32_t> operators, tuple;
    for (int32_t i = 0; i < num_operators; ++i) {
        tuple.assign(1, in.next(0, t.schemas.size()));
        append(tuple, in.take_objects(t.schemas[tuple[0]].parameters.size(), t.objects.size()));
        operators.push_back(e.space_.insert_action(tuple));
    }
    for (int32_t state = 0; state < num_states; ++state) {
        auto row = in.take(in.next());
        std::vector<int32_t> applicable;
        for (int32_t op : row) applicable.push_back(operators[Reader::in_range(op, 0, num_operators)]);
        e.actions_.set(state, applicable);
    }
    for (int32_t state = 0; state < num_states; ++state) {
        auto plan = in.take(in.next());
        for (Reader rest(plan); !rest.is_over();) {
            const int32_t first = rest.next(t.conditional ? -static_cast<int64_t>(t.predicates.size()) : 0, t.schemas.size());
            rest.take_objects(t.plan_row_size(first) - 1, t.objects.size());
        }
        e.plans_.set(state, plan);
    }
    for (int32_t count = in.next(), i = 0; i < count; ++i) {
        Transition r{};
        r.state = in.next(0, num_states);
        r.action = in.next(0, static_cast<int64_t>(e.actions(r.state).size()));
        r.successor = in.next(0, num_states);
        r.cost = in.next();
        r.kind = static_cast<TransitionKind>(in.next(0, 4));
        const auto best = static_cast<float>(in.next(INT32_MIN, 1));
        r.bound = r.kind == TransitionKind::exact ? best : -std::numeric_limits<float>::infinity();
        e.transitions_.push_back(r);
    }
    in.end();
    std::vector<int32_t> plan = e.plan_transitions();
    if (static_cast<int64_t>(plan.size()) != std::max<int64_t>(e.plan_length_, 0) ||
        (!plan.empty() && e.transitions_[plan[0]].state != e.space_.initial_state()))
        throw InputError("the record of an episode has another plan than it says");
    e.bound_plan();
    return episode;
}

}  // namespace gsp
