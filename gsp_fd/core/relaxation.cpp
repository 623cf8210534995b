#include "relaxation.h"

#include "cost_queue.h"

namespace gsp {
namespace {

/// One of the three heuristics, with the scratch memory of its explorations.
class Relaxation final : public Heuristic {
public:
    Relaxation(RelaxedKind kind, std::shared_ptr<const RelaxedTask> task, std::string name)
        : Heuristic(std::move(name)), kind_(kind), task_(std::move(task)), fact_mark_(task_->unreached.size(), 0) {}

    std::shared_ptr<Heuristic> clone() const override { return std::make_shared<Relaxation>(kind_, task_, name); }
    void bind(StateSpace &space) override {
        view_ = task_->view(space);
        if (!view_) throw InputError("heuristic " + name + " was made for another task");
        action_mark_.clear();
    }
    void evaluate(std::span<const int32_t> states, double *values) override {
        for (size_t i = 0; i < states.size(); ++i) values[i] = compute(states[i], kind_ == RelaxedKind::hff);
    }
    double evaluate_preferred(int32_t state, std::vector<int32_t> &preferred) override {
        preferred.clear();
        double value = compute(state, kind_ != RelaxedKind::hmax);
        for (int32_t action : plan_) {
            int32_t op = view_->applicable(action);
            // Several actions may have one representative.
            if (op >= 0 && std::find(preferred.begin(), preferred.end(), op) == preferred.end()) preferred.push_back(op);
        }
        return value;
    }
    double relaxed_plan(int32_t state, Rows &plan) override {
        if (kind_ == RelaxedKind::hmax) return Heuristic::relaxed_plan(state, plan);
        double value = compute(state, true);
        for (int32_t action : plan_) {
            if (view_->tuple(action).empty()) return Heuristic::relaxed_plan(state, plan);
            plan.push(view_->tuple(action));
        }
        return value;
    }

private:
    void reach(int32_t fact, int32_t cost, int32_t supporter) {
        if (cost < reached_[fact].cost) {
            reached_[fact] = {cost, supporter};
            queue_.push(cost, fact);
        }
    }
    double compute(int32_t state, bool with_plan);
    template<bool maximum>
    bool explore();
    bool dependents_are_useless(int32_t fact, int32_t cost) const {
        auto targets = task_->targets[fact];
        for (int32_t target : targets)
            if (reached_[target].cost > cost) return false;
        return !targets.empty();
    }
    double extract_plan();
    bool is_new(int32_t action) {
        if (static_cast<size_t>(action) >= action_mark_.size()) action_mark_.resize(action + action / 2 + 64, 0);
        if (action_mark_[action] == mark_) return false;
        action_mark_[action] = mark_;
        return true;
    }

    RelaxedKind kind_;
    std::shared_ptr<const RelaxedTask> task_;
    std::unique_ptr<RelaxedView> view_;

    std::vector<RelaxedTask::Counter> counters_;
    std::vector<Reached> reached_;
    CostQueue queue_;
    std::vector<int32_t> facts_, stack_, plan_;
    std::vector<uint32_t> fact_mark_, action_mark_;
    uint32_t mark_ = 0;
};

/// The value of a state; with a plan, the actions of its relaxed plan are in `plan_`.
double Relaxation::compute(int32_t state, bool with_plan) {
    facts_.clear();
    plan_.clear();
    view_->load(state, facts_);
    if (!task_->solvable) return dead_end;
    bool solved = kind_ == RelaxedKind::hmax ? explore<true>() : explore<false>();
    if (!solved) return dead_end;
    double plan_cost = with_plan ? extract_plan() : 0;
    if (kind_ == RelaxedKind::hff) return plan_cost;
    double result = 0;
    for (int32_t f : task_->goal) {
        double cost = reached_[f].cost;
        result = kind_ == RelaxedKind::hmax ? std::max(result, cost) : result + cost;
    }
    return result;
}

/// Costs of all facts up to the moment when the last goal fact has its final one. False if some goal fact has none.
template<bool maximum>
bool Relaxation::explore() {
    const RelaxedTask &task = *task_;
    queue_.clear();
    reached_ = task.unreached;
    counters_ = task.fresh;
    for (int32_t f : facts_) reach(f, 0, -1);
    for (int32_t f : task.always) reach(f, 0, -1);
    for (int32_t r : task.unconditional)
        for (int32_t f : task.adds[r]) reach(f, task.base_cost[r], r);
    size_t open_goals = task.goal.size();
    if (open_goals == 0) return true;
    int32_t cost, fact;
    while (queue_.pop(cost, fact)) {
        if (reached_[fact].cost < cost) continue;
        if (task.is_goal[fact] && --open_goals == 0) return true;
        if (dependents_are_useless(fact, cost)) continue;
        for (int32_t d : task.dependents[fact]) {
            if (d < 0) {
                const RelaxedTask::Single &single = task.singles[~d];
                reach(single.add, std::min(single.cost + cost, RelaxedTask::infinite - 1), single.relaxed);
                continue;
            }
            RelaxedTask::Counter &counter = counters_[d];
            // Facts leave the queue in order of cost, so the last precondition is the dearest.
            if constexpr (maximum) {
                if (--counter.open != 0) continue;
                counter.cost = std::min(counter.cost + cost, RelaxedTask::infinite - 1);
            } else {
                counter.cost = std::min(counter.cost + cost, RelaxedTask::infinite - 1);
                if (--counter.open != 0) continue;
            }
            for (int32_t f : task.adds[d]) reach(f, counter.cost, d);
        }
    }
    return false;
}

double Relaxation::extract_plan() {
    if (++mark_ == 0) {
        std::fill(fact_mark_.begin(), fact_mark_.end(), 0);
        std::fill(action_mark_.begin(), action_mark_.end(), 0);
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
        int32_t action = view_->action(r, reached_.data());
        if (action < 0 || !is_new(action)) continue;
        total += task_->base_cost[r];
        plan_.push_back(action);
    }
    return total;
}

}  // namespace

std::shared_ptr<Heuristic> make_relaxed(RelaxedKind kind, std::shared_ptr<const RelaxedTask> task, std::string name) {
    return std::make_shared<Relaxation>(kind, std::move(task), std::move(name));
}

}  // namespace gsp
