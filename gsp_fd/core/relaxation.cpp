#include "relaxation.h"

#include <algorithm>
#include <map>
#include <queue>

#include "ground_space.h"

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
class Relaxation final : public Heuristic {
public:
    Relaxation(RelaxedKind kind, std::shared_ptr<const GroundTask> task, CostType cost_type, std::string name)
        : Heuristic(std::move(name)), kind_(kind), task_(std::move(task)) {
        build(cost_type);
    }

    void bind(StateSpace &space) override {
        space_ = dynamic_cast<GroundSpace *>(&space);
        if (!space_ || &space_->task() != task_.get())
            throw InputError("heuristic " + name + " was made for another task");
    }
    void evaluate(std::span<const int32_t> states, double *values) override {
        for (size_t i = 0; i < states.size(); ++i) {
            space_->load(states[i]);
            values[i] = compute(nullptr);
        }
    }
    double evaluate_preferred(int32_t state, std::vector<int32_t> &preferred) override {
        preferred.clear();
        space_->load(state);
        return compute(&preferred);
    }

private:
    struct Counter {
        int32_t cost, open;
    };
    struct Reached {
        int32_t cost, supporter;
    };
    static constexpr int32_t infinite = INT32_MAX / 2;

    void build(CostType cost_type);
    void add_relaxed(std::vector<int32_t> facts, const std::vector<int32_t> &adds, int32_t op, int32_t cost);
    void reach(int32_t fact, int32_t cost, int32_t supporter) {
        if (cost < reached_[fact].cost) {
            reached_[fact] = {cost, supporter};
            queue_.push(cost, fact);
        }
    }
    double compute(std::vector<int32_t> *preferred);
    template<bool maximum>
    bool explore();
    double relaxed_plan(std::vector<int32_t> *preferred);
    bool applicable(const Operator &op) const {
        for (const Fact &fact : op.preconditions)
            if (space_->values()[fact.variable] != fact.value) return false;
        return true;
    }

    RelaxedKind kind_;
    std::shared_ptr<const GroundTask> task_;
    GroundSpace *space_ = nullptr;

    std::vector<int32_t> dense_;  // fact -> number among the needed ones, or -1
    Rows preconditions_, adds_, needed_by_;
    std::vector<int32_t> base_cost_, operator_of_;  // per relaxed operator; -1 for an axiom
    std::vector<int32_t> unconditional_;            // relaxed operators without preconditions
    std::vector<int32_t> always_;                   // facts true in every relaxed state: defaults of derived variables
    std::vector<int32_t> goal_;
    std::vector<char> is_goal_;
    std::vector<Counter> fresh_, counters_;
    std::vector<Reached> unreached_, reached_;
    CostQueue queue_;
    std::vector<int32_t> stack_;
    std::vector<uint32_t> fact_mark_, operator_mark_;
    uint32_t mark_ = 0;
};

void Relaxation::build(CostType cost_type) {
    const GroundTask &task = *task_;
    std::vector<char> needed(task.num_facts(), 0);
    for (const Operator &op : task.operators) {
        for (const Fact &fact : op.preconditions) needed[task.fact_id(fact)] = 1;
        for (const Effect &effect : op.effects)
            for (const Fact &fact : effect.conditions) needed[task.fact_id(fact)] = 1;
    }
    for (const Axiom &axiom : task.axioms)
        for (const Fact &fact : axiom.conditions) needed[task.fact_id(fact)] = 1;
    for (const Fact &fact : task.goal) needed[task.fact_id(fact)] = 1;
    dense_.assign(task.num_facts(), -1);
    int32_t count = 0;
    for (size_t f = 0; f < needed.size(); ++f)
        if (needed[f]) dense_[f] = count++;

    auto dense = [&](const std::vector<Fact> &facts, std::vector<int32_t> &out) {
        for (const Fact &fact : facts) out.push_back(dense_[task.fact_id(fact)]);
    };
    for (size_t o = 0; o < task.operators.size(); ++o) {
        const Operator &op = task.operators[o];
        std::map<std::vector<Fact>, std::vector<int32_t>> groups;
        for (const Effect &effect : op.effects) groups[effect.conditions].push_back(dense_[task.fact_id(effect.fact)]);
        for (const auto &[conditions, adds] : groups) {
            std::vector<int32_t> facts;
            dense(op.preconditions, facts);
            dense(conditions, facts);
            add_relaxed(std::move(facts), adds, static_cast<int32_t>(o),
                        adjusted_cost(op.cost, cost_type, task.unit_cost));
        }
    }
    for (const Axiom &axiom : task.axioms) {
        std::vector<int32_t> facts;
        dense(axiom.conditions, facts);
        add_relaxed(std::move(facts), {dense_[task.fact_id(axiom.effect)]}, -1, 0);
    }
    // A derived variable is taken to have its default value as well as what the axioms give it: an over-approximation of
    // negated derived facts, so dead ends stay certain and hmax stays admissible.
    for (size_t v = 0; v < task.variables.size(); ++v)
        if (task.variables[v].axiom_layer >= 0)
            if (int32_t f = dense_[task.first_fact[v] + task.initial[v]]; f >= 0) always_.push_back(f);
    is_goal_.assign(count, 0);
    for (const Fact &fact : task.goal) {
        int32_t f = dense_[task.fact_id(fact)];
        if (!is_goal_[f]) goal_.push_back(f);
        is_goal_[f] = 1;
    }
    needed_by_ = preconditions_.inverted(count);
    unreached_.assign(count, {infinite, -1});
    counters_ = fresh_;
    fact_mark_.assign(count, 0);
    operator_mark_.assign(task.operators.size(), 0);
}

void Relaxation::add_relaxed(std::vector<int32_t> facts, const std::vector<int32_t> &adds, int32_t op, int32_t cost) {
    std::sort(facts.begin(), facts.end());
    facts.erase(std::unique(facts.begin(), facts.end()), facts.end());
    std::vector<int32_t> useful;
    for (int32_t add : adds)
        if (add >= 0 && !std::binary_search(facts.begin(), facts.end(), add)) useful.push_back(add);
    if (useful.empty()) return;
    if (facts.empty()) unconditional_.push_back(static_cast<int32_t>(base_cost_.size()));
    fresh_.push_back({cost, static_cast<int32_t>(facts.size())});
    preconditions_.push(facts);
    adds_.push(useful);
    base_cost_.push_back(cost);
    operator_of_.push_back(op);
}

double Relaxation::compute(std::vector<int32_t> *preferred) {
    bool solved = kind_ == RelaxedKind::hmax ? explore<true>() : explore<false>();
    if (!solved) return dead_end;
    double result = 0;
    if (kind_ == RelaxedKind::hmax) {
        for (int32_t f : goal_) result = std::max<double>(result, reached_[f].cost);
        return result;
    }
    double plan_cost = kind_ == RelaxedKind::hff || preferred ? relaxed_plan(preferred) : 0;
    if (kind_ == RelaxedKind::hff) return plan_cost;
    for (int32_t f : goal_) result += reached_[f].cost;
    return result;
}

/// Costs of all facts up to the moment when the last goal fact has its final one. False if some goal fact has none.
template<bool maximum>
bool Relaxation::explore() {
    queue_.clear();
    reached_ = unreached_;
    std::memcpy(counters_.data(), fresh_.data(), fresh_.size() * sizeof(Counter));
    const int32_t *values = space_->values();
    const auto &first = task_->first_fact;
    for (size_t v = 0; v + 1 < first.size(); ++v)
        if (int32_t f = dense_[first[v] + values[v]]; f >= 0) reach(f, 0, -1);
    for (int32_t f : always_) reach(f, 0, -1);
    for (int32_t r : unconditional_)
        for (int32_t f : adds_[r]) reach(f, base_cost_[r], r);
    size_t open_goals = goal_.size();
    if (open_goals == 0) return true;
    int32_t cost, fact;
    while (queue_.pop(cost, fact)) {
        if (reached_[fact].cost < cost) continue;
        if (is_goal_[fact] && --open_goals == 0) return true;
        for (int32_t r : needed_by_[fact]) {
            Counter &counter = counters_[r];
            // Facts leave the queue in order of cost, so the last precondition is the dearest.
            if constexpr (maximum) {
                if (--counter.open != 0) continue;
                counter.cost += cost;
            } else {
                counter.cost = std::min(counter.cost + cost, infinite - 1);
                if (--counter.open != 0) continue;
            }
            for (int32_t f : adds_[r]) reach(f, counter.cost, r);
        }
    }
    return false;
}

double Relaxation::relaxed_plan(std::vector<int32_t> *preferred) {
    if (++mark_ == 0) {
        std::fill(fact_mark_.begin(), fact_mark_.end(), 0);
        std::fill(operator_mark_.begin(), operator_mark_.end(), 0);
        mark_ = 1;
    }
    stack_.assign(goal_.begin(), goal_.end());
    double total = 0;
    while (!stack_.empty()) {
        int32_t fact = stack_.back();
        stack_.pop_back();
        if (fact_mark_[fact] == mark_) continue;
        fact_mark_[fact] = mark_;
        int32_t r = reached_[fact].supporter;
        if (r < 0) continue;
        for (int32_t f : preconditions_[r])
            if (fact_mark_[f] != mark_) stack_.push_back(f);
        int32_t op = operator_of_[r];
        if (op < 0 || operator_mark_[op] == mark_) continue;
        operator_mark_[op] = mark_;
        total += base_cost_[r];
        if (preferred && applicable(task_->operators[op])) preferred->push_back(op);
    }
    return total;
}

}  // namespace

std::shared_ptr<Heuristic> make_relaxed(RelaxedKind kind, std::shared_ptr<const GroundTask> task, CostType cost_type,
                                        std::string name) {
    return std::make_shared<Relaxation>(kind, std::move(task), cost_type, std::move(name));
}

}  // namespace gsp
