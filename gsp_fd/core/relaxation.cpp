#include "relaxation.h"

#include <algorithm>
#include <map>
#include <queue>

#include "ground_space.h"
#include "lifted_space.h"

namespace gsp {
namespace {

/// Priority queue for non-negative integer keys that never fall below the last one taken: buckets for small keys, a heap
/// for the rest (action costs may be in the hundreds of thousands).
class CostQueue {
public:
    void clear() {
        for (size_t c = current_; c <= highest_ && c < buckets_.size(); ++c) buckets_[c].clear();
        heap_ = {};
        current_ = position_ = highest_ = 0;
    }
    void push(int32_t cost, int32_t item) {
        if (static_cast<size_t>(cost) < bucket_limit) {
            if (static_cast<size_t>(cost) >= buckets_.size()) buckets_.resize(cost + 64);
            buckets_[cost].push_back(item);
            highest_ = std::max(highest_, static_cast<size_t>(cost));
        } else {
            heap_.emplace(cost, item);
        }
    }
    /// False if the queue is empty.
    bool pop(int32_t &cost, int32_t &item) {
        while (current_ <= highest_ && current_ < buckets_.size()) {
            if (position_ < buckets_[current_].size()) {
                cost = static_cast<int32_t>(current_);
                item = buckets_[current_][position_++];
                return true;
            }
            buckets_[current_].clear();
            position_ = 0;
            ++current_;
        }
        if (heap_.empty()) return false;
        std::tie(cost, item) = heap_.top();
        heap_.pop();
        return true;
    }

private:
    static constexpr size_t bucket_limit = 4096;
    using Item = std::pair<int32_t, int32_t>;
    std::vector<std::vector<int32_t>> buckets_;
    std::priority_queue<Item, std::vector<Item>, std::greater<>> heap_;
    size_t current_ = 0, position_ = 0, highest_ = 0;
};

/// Relaxed operators: one per operator for its unconditional effects, one per set of effect conditions, one per axiom.
/// Facts that nobody needs (no precondition, no goal) are left out, and the others renumbered densely.
struct RelaxedTask {
    struct Counter {
        int32_t cost, open;
    };
    struct Reached {
        int32_t cost, supporter;
    };
    static constexpr int32_t infinite = INT32_MAX / 2;

    RelaxedTask(std::shared_ptr<const GroundTask> source, CostType cost_type);
    void add_relaxed(std::vector<int32_t> facts, const std::vector<int32_t> &added, int32_t op, int32_t cost);

    std::shared_ptr<const GroundTask> ground;
    std::vector<int32_t> dense;  // fact -> number among the needed ones, or -1
    Rows preconditions, adds, needed_by;
    std::vector<int32_t> base_cost, operator_of;  // per relaxed operator; -1 for an axiom
    std::vector<int32_t> unconditional;           // relaxed operators without preconditions
    std::vector<int32_t> always;                  // facts true in every relaxed state: defaults of derived variables
    std::vector<int32_t> goal;
    std::vector<char> is_goal;
    std::vector<Counter> fresh;                   // of every relaxed operator, before the exploration
    std::vector<Reached> unreached;
    TupleTable lifted_atoms;                      // numbered as in GroundTask::atom_facts
};

RelaxedTask::RelaxedTask(std::shared_ptr<const GroundTask> source, CostType cost_type) : ground(std::move(source)) {
    const GroundTask &task = *ground;
    std::vector<char> needed(task.num_facts(), 0);
    for (const Operator &op : task.operators) {
        for (const Fact &fact : op.preconditions) needed[task.fact_id(fact)] = 1;
        for (const Effect &effect : op.effects)
            for (const Fact &fact : effect.conditions) needed[task.fact_id(fact)] = 1;
    }
    for (const Axiom &axiom : task.axioms)
        for (const Fact &fact : axiom.conditions) needed[task.fact_id(fact)] = 1;
    for (const Fact &fact : task.goal) needed[task.fact_id(fact)] = 1;
    dense.assign(task.num_facts(), -1);
    int32_t count = 0;
    for (size_t f = 0; f < needed.size(); ++f)
        if (needed[f]) dense[f] = count++;

    auto add_dense = [&](const std::vector<Fact> &facts, std::vector<int32_t> &out) {
        for (const Fact &fact : facts) out.push_back(dense[task.fact_id(fact)]);
    };
    for (size_t o = 0; o < task.operators.size(); ++o) {
        const Operator &op = task.operators[o];
        std::map<std::vector<Fact>, std::vector<int32_t>> groups;
        for (const Effect &effect : op.effects) groups[effect.conditions].push_back(dense[task.fact_id(effect.fact)]);
        for (const auto &[conditions, added] : groups) {
            std::vector<int32_t> facts;
            add_dense(op.preconditions, facts);
            add_dense(conditions, facts);
            add_relaxed(std::move(facts), added, static_cast<int32_t>(o),
                        adjusted_cost(op.cost, cost_type, task.unit_cost));
        }
    }
    for (const Axiom &axiom : task.axioms) {
        std::vector<int32_t> facts;
        add_dense(axiom.conditions, facts);
        add_relaxed(std::move(facts), {dense[task.fact_id(axiom.effect)]}, -1, 0);
    }
    // A derived variable is taken to have its default value as well as what the axioms give it: an over-approximation of
    // negated derived facts, so dead ends stay certain and hmax stays admissible.
    for (size_t v = 0; v < task.variables.size(); ++v)
        if (task.variables[v].axiom_layer >= 0)
            if (int32_t f = dense[task.first_fact[v] + task.initial[v]]; f >= 0) always.push_back(f);
    is_goal.assign(count, 0);
    for (const Fact &fact : task.goal) {
        int32_t f = dense[task.fact_id(fact)];
        if (!is_goal[f]) goal.push_back(f);
        is_goal[f] = 1;
    }
    needed_by = preconditions.inverted(count);
    unreached.assign(count, {infinite, -1});
    for (const auto &atom : task.atom_facts) lifted_atoms.intern(atom.predicate, atom.args.data(), atom.args.size());
}

void RelaxedTask::add_relaxed(std::vector<int32_t> facts, const std::vector<int32_t> &added, int32_t op, int32_t cost) {
    cost = std::min(cost, infinite - 1);
    std::sort(facts.begin(), facts.end());
    facts.erase(std::unique(facts.begin(), facts.end()), facts.end());
    std::vector<int32_t> useful;
    for (int32_t add : added)
        if (add >= 0 && !std::binary_search(facts.begin(), facts.end(), add)) useful.push_back(add);
    if (useful.empty()) return;
    if (facts.empty()) unconditional.push_back(static_cast<int32_t>(base_cost.size()));
    fresh.push_back({cost, static_cast<int32_t>(facts.size())});
    preconditions.push(facts);
    adds.push(useful);
    base_cost.push_back(cost);
    operator_of.push_back(op);
}

/// States of a lifted space seen as values of the ground task that was made from the same lifted task.
class LiftedValues {
public:
    LiftedValues(LiftedSpace &space, const RelaxedTask &task)
        : space_(space), relaxed_(task), task_(*task.ground),
          empty_(task_.empty_values.empty() ? task_.initial : task_.empty_values) {}
    const int32_t *load(int32_t state) {
        values_ = empty_;
        for (int32_t atom : space_.atoms(state)) {
            int32_t index = lookup(atom);
            if (index < 0) continue;
            const GroundTask::AtomFacts &facts = task_.atom_facts[index];
            if (facts.fact.variable >= 0) values_[facts.fact.variable] = facts.fact.value;
            if (facts.mirror.variable >= 0) values_[facts.mirror.variable] = facts.mirror.value;
        }
        return values_.data();
    }
    LiftedSpace &space() { return space_; }
    /// Adds the number that an operator has in the space, if it is applicable in the loaded state.
    void prefer(std::span<const int32_t> tuple, std::vector<int32_t> &preferred) {
        if (!space_.is_applicable(tuple)) return;
        int32_t op = space_.insert_representative(tuple);
        if (std::find(preferred.begin(), preferred.end(), op) == preferred.end()) preferred.push_back(op);
    }

private:
    static constexpr int32_t unknown = -2;
    int32_t lookup(int32_t atom) {
        if (static_cast<size_t>(atom) >= index_of_atom_.size()) index_of_atom_.resize(atom + atom / 2 + 64, unknown);
        if (index_of_atom_[atom] == unknown) {
            const TupleTable &atoms = space_.database().atoms();
            index_of_atom_[atom] = relaxed_.lifted_atoms.find(atoms.symbol(atom), atoms.args(atom), atoms.count(atom));
        }
        return index_of_atom_[atom];
    }
    LiftedSpace &space_;
    const RelaxedTask &relaxed_;
    const GroundTask &task_;
    const std::vector<int32_t> &empty_;
    std::vector<int32_t> index_of_atom_, values_;
};

/// One of the three heuristics, with the scratch memory of its explorations.
class Relaxation final : public Heuristic {
public:
    Relaxation(RelaxedKind kind, std::shared_ptr<const RelaxedTask> task, std::string name)
        : Heuristic(std::move(name)), kind_(kind), task_(std::move(task)), counters_(task_->fresh),
          fact_mark_(task_->unreached.size(), 0), operator_mark_(task_->ground->operators.size(), 0) {}

    std::shared_ptr<Heuristic> clone() const override { return std::make_shared<Relaxation>(kind_, task_, name); }
    void bind(StateSpace &space) override {
        lifted_.reset();
        ground_ = dynamic_cast<GroundSpace *>(&space);
        if (ground_ && &ground_->task() == task_->ground.get()) return;
        auto *lifted = dynamic_cast<LiftedSpace *>(&space);
        if (!lifted || !task_->ground->lifted) throw InputError("heuristic " + name + " was made for another task");
        lifted_ = std::make_unique<LiftedValues>(*lifted, *task_);
    }
    void evaluate(std::span<const int32_t> states, double *values) override {
        for (size_t i = 0; i < states.size(); ++i) {
            load(states[i]);
            values[i] = compute(false);
        }
    }
    double evaluate_preferred(int32_t state, std::vector<int32_t> &preferred) override {
        preferred.clear();
        load(state);
        double value = compute(true);
        if (lifted_) lifted_->space().load(state);
        for (int32_t op : plan_)
            if (!lifted_ && applicable(task_->ground->operators[op])) preferred.push_back(op);
            else if (lifted_) lifted_->prefer(task_->ground->operator_tuples[op], preferred);
        return value;
    }
    double relaxed_plan(int32_t state, Rows &plan) override {
        if (kind_ == RelaxedKind::hmax || !task_->ground->lifted) return Heuristic::relaxed_plan(state, plan);
        load(state);
        double value = compute(true);
        for (int32_t op : plan_) plan.push(task_->ground->operator_tuples[op]);
        return value;
    }

private:
    void load(int32_t state) {
        if (lifted_) {
            values_ = lifted_->load(state);
        } else {
            ground_->load(state);
            values_ = ground_->values();
        }
    }
    void reach(int32_t fact, int32_t cost, int32_t supporter) {
        if (cost < reached_[fact].cost) {
            reached_[fact] = {cost, supporter};
            queue_.push(cost, fact);
        }
    }
    double compute(bool with_plan);
    template<bool maximum>
    bool explore();
    double extract_plan();
    bool applicable(const Operator &op) const {
        for (const Fact &fact : op.preconditions)
            if (values_[fact.variable] != fact.value) return false;
        return true;
    }

    RelaxedKind kind_;
    std::shared_ptr<const RelaxedTask> task_;
    GroundSpace *ground_ = nullptr;
    std::unique_ptr<LiftedValues> lifted_;
    const int32_t *values_ = nullptr;

    std::vector<RelaxedTask::Counter> counters_;
    std::vector<RelaxedTask::Reached> reached_;
    CostQueue queue_;
    std::vector<int32_t> stack_, plan_;
    std::vector<uint32_t> fact_mark_, operator_mark_;
    uint32_t mark_ = 0;
};

/// The value of the loaded state; the operators of its relaxed plan are in `plan_` after hFF, or if asked for.
double Relaxation::compute(bool with_plan) {
    plan_.clear();
    bool solved = kind_ == RelaxedKind::hmax ? explore<true>() : explore<false>();
    if (!solved) return dead_end;
    double result = 0;
    if (kind_ == RelaxedKind::hmax) {
        for (int32_t f : task_->goal) result = std::max<double>(result, reached_[f].cost);
        return result;
    }
    double plan_cost = kind_ == RelaxedKind::hff || with_plan ? extract_plan() : 0;
    if (kind_ == RelaxedKind::hff) return plan_cost;
    for (int32_t f : task_->goal) result += reached_[f].cost;
    return result;
}

/// Costs of all facts up to the moment when the last goal fact has its final one. False if some goal fact has none.
template<bool maximum>
bool Relaxation::explore() {
    queue_.clear();
    reached_ = task_->unreached;
    std::copy(task_->fresh.begin(), task_->fresh.end(), counters_.begin());
    const auto &first = task_->ground->first_fact;
    for (size_t v = 0; v + 1 < first.size(); ++v)
        if (int32_t f = task_->dense[first[v] + values_[v]]; f >= 0) reach(f, 0, -1);
    for (int32_t f : task_->always) reach(f, 0, -1);
    for (int32_t r : task_->unconditional)
        for (int32_t f : task_->adds[r]) reach(f, task_->base_cost[r], r);
    size_t open_goals = task_->goal.size();
    if (open_goals == 0) return true;
    int32_t cost, fact;
    while (queue_.pop(cost, fact)) {
        if (reached_[fact].cost < cost) continue;
        if (task_->is_goal[fact] && --open_goals == 0) return true;
        for (int32_t r : task_->needed_by[fact]) {
            RelaxedTask::Counter &counter = counters_[r];
            // Facts leave the queue in order of cost, so the last precondition is the dearest.
            if constexpr (maximum) {
                if (--counter.open != 0) continue;
                counter.cost = std::min(counter.cost + cost, RelaxedTask::infinite - 1);
            } else {
                counter.cost = std::min(counter.cost + cost, RelaxedTask::infinite - 1);
                if (--counter.open != 0) continue;
            }
            for (int32_t f : task_->adds[r]) reach(f, counter.cost, r);
        }
    }
    return false;
}

double Relaxation::extract_plan() {
    if (++mark_ == 0) {
        std::fill(fact_mark_.begin(), fact_mark_.end(), 0);
        std::fill(operator_mark_.begin(), operator_mark_.end(), 0);
        mark_ = 1;
    }
    stack_.assign(task_->goal.begin(), task_->goal.end());
    double total = 0;
    while (!stack_.empty()) {
        int32_t fact = stack_.back();
        stack_.pop_back();
        if (fact_mark_[fact] == mark_) continue;
        fact_mark_[fact] = mark_;
        int32_t r = reached_[fact].supporter;
        if (r < 0) continue;
        for (int32_t f : task_->preconditions[r])
            if (fact_mark_[f] != mark_) stack_.push_back(f);
        int32_t op = task_->operator_of[r];
        if (op < 0 || operator_mark_[op] == mark_) continue;
        operator_mark_[op] = mark_;
        total += task_->base_cost[r];
        plan_.push_back(op);
    }
    return total;
}

}  // namespace

std::shared_ptr<Heuristic> make_relaxed(RelaxedKind kind, std::shared_ptr<const GroundTask> task, CostType cost_type,
                                        std::string name) {
    return std::make_shared<Relaxation>(kind, std::make_shared<RelaxedTask>(std::move(task), cost_type), std::move(name));
}

}  // namespace gsp
