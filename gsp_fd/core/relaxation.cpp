#include "relaxation.h"

#include <array>

#include "cost_queue.h"

namespace gsp {
namespace {

/// One of the three heuristics, with the scratch memory of its explorations.
class Relaxation final : public Heuristic {
public:
    Relaxation(RelaxedKind kind, std::shared_ptr<const RelaxedTask> task, std::string name)
        : Heuristic(std::move(name)), kind_(kind), task_(std::move(task)) {}

    std::shared_ptr<Heuristic> clone() const override { return std::make_shared<Relaxation>(kind_, task_, name); }
    void bind(StateSpace &space) override {
        view_ = task_->view(space);
        if (!view_) throw InputError("heuristic " + name + " was made for another task");
        action_mark_.clear();
        for (Known &known : known_) known.state = -1;
    }
    void evaluate(std::span<const int32_t> states, double *values) override {
        for (size_t i = 0; i < states.size(); ++i) values[i] = know(states[i], kind_ == RelaxedKind::hff).value;
    }
    double evaluate_preferred(int32_t state, std::vector<int32_t> &preferred) override {
        preferred.clear();
        bool with_plan = kind_ != RelaxedKind::hmax;
        if (place(state).serves(state, with_plan)) load(state);  // as an exploration would
        const Known &known = know(state, with_plan);
        for (int32_t action : known.plan) {
            int32_t op = view_->applicable(action);
            // Several actions may have one representative.
            if (op >= 0 && std::find(preferred.begin(), preferred.end(), op) == preferred.end()) preferred.push_back(op);
        }
        return known.value;
    }
    double relaxed_plan(int32_t state, Rows &plan) override {
        if (kind_ == RelaxedKind::hmax) return Heuristic::relaxed_plan(state, plan);
        const Known &known = know(state, true);
        for (int32_t action : known.plan) {
            if (view_->tuple(action).empty()) return Heuristic::relaxed_plan(state, plan);
            plan.push(view_->tuple(action));
        }
        for (int32_t fact : known.added) view_->append_atom(fact, plan);
        return known.value;
    }
    int64_t explorations() const override { return explorations_; }

private:
    /// What was computed for a state.
    struct Known {
        int32_t state = -1;
        bool with_plan = false;
        double value = 0;
        std::vector<int32_t> plan;   // actions
        std::vector<int32_t> added;  // facts, if actions have conditional effects

        bool serves(int32_t asked, bool plan_wanted) const { return state == asked && (with_plan || !plan_wanted); }
    };
    Known &place(int32_t state) { return known_[static_cast<size_t>(state) % known_.size()]; }
    /// A state is asked for its value, its preferred operators and its plan one soon after the other: all come from one
    /// exploration.
    const Known &know(int32_t state, bool with_plan) {
        Known &known = place(state);
        if (known.serves(state, with_plan)) return known;
        known.state = -1;
        known.value = compute(state, with_plan);
        known.plan = plan_;
        known.added = added_;
        known.with_plan = with_plan;
        known.state = state;
        return known;
    }
    void load(int32_t state) {
        facts_.clear();
        view_->load(state, facts_);
    }
    void reach(int32_t fact, int32_t cost, int32_t supporter) {
        Reached &known = reached_[fact];
        if (cost >= known.cost) return;
        known.cost = cost;
        known.supporter = supporter;
        if (!is_useless(fact, cost)) queue_.push(cost, fact);
    }
    double compute(int32_t state, bool with_plan);
    template<bool maximum>
    bool explore();
    template<bool maximum>
    void take_active(const RelaxedTask::Dependent *entry, const RelaxedTask::Dependent *end, int32_t cost);
    template<bool maximum>
    void take_passive(const RelaxedTask::Dependent *entry, const RelaxedTask::Dependent *end, int32_t cost) {
        const Reached *reached = reached_.data();
        for (; entry < end; ++entry)
            if (reached[entry->other].closed >= 0) finish_pair<maximum>(*entry, cost);
    }
    template<bool maximum>
    void take_counted(const int32_t *entry, const int32_t *end, int32_t cost);
    /// Facts leave the queue in order of cost, so the last precondition is the dearest.
    template<bool maximum>
    void finish_pair(const RelaxedTask::Dependent &d, int32_t cost) {
        reach(d.add, bounded((maximum ? cost : bounded(cost + reached_[d.other].closed)) + d.cost), d.relaxed);
    }
    static int32_t bounded(int32_t sum) { return std::min(sum, RelaxedTask::infinite - 1); }
    /// Most of the time goes into waiting for memory: ask early for what the facts next in the queue will need.
    void prefetch() const {
        constexpr size_t distance = 8;
        auto fetch = [&](int32_t fact) {
            const RelaxedTask::Dependent *first = task_->active.data() + task_->facts[fact].first_active;
            __builtin_prefetch(first);
            __builtin_prefetch(first + 4);
        };
        if (int32_t later = queue_.ahead(distance); later >= 0) fetch(later);
        std::span<const int32_t> next = queue_.next_items();
        for (size_t i = 0; i < std::min(next.size(), distance); ++i) fetch(next[i]);
    }
    /// Whether all that the fact can lead to has been reached at most at its cost.
    bool is_useless(int32_t fact, int32_t cost) const {
        const RelaxedTask::FactInfo &info = task_->facts[fact];
        return info.target >= 0 && reached_[info.target].cost <= cost &&
               (info.other_target < 0 || reached_[info.other_target].cost <= cost);
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
    std::vector<int32_t> facts_, stack_, plan_, added_;
    std::vector<uint32_t> action_mark_;
    uint32_t mark_ = 0;
    int64_t explorations_ = 0;
    std::array<Known, 256> known_;  // states made one after another have places of their own
};

/// The value of a state; with a plan, the actions of its relaxed plan are in `plan_`, and what they add in `added_`.
double Relaxation::compute(int32_t state, bool with_plan) {
    plan_.clear();
    added_.clear();
    load(state);
    if (!task_->solvable) return dead_end;
    ++explorations_;
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
    for (int32_t r : task.unconditional)
        for (int32_t f : task.adds[r]) reach(f, task.base_cost[r], r);
    size_t open_goals = task.goal.size();
    if (open_goals == 0) return true;
    int32_t cost, fact;
    while (queue_.pop(cost, fact)) {
        if (reached_[fact].cost < cost) continue;
        prefetch();
        const RelaxedTask::FactInfo &info = task.facts[fact], &next = task.facts[fact + 1];
        if (info.target == RelaxedTask::is_goal && --open_goals == 0) return true;
        bool awaited = reached_[fact].closed < -1;
        reached_[fact].closed = cost;
        for (int32_t i = info.first_run; i < next.first_run; ++i) {
            const RelaxedTask::Run run = task.runs[i];
            switch (run.kind) {
            case RelaxedTask::Kind::active:
                take_active<maximum>(task.active.data() + run.begin, task.active.data() + run.end, cost);
                break;
            case RelaxedTask::Kind::passive:
                if (awaited) take_passive<maximum>(task.passive.data() + run.begin, task.passive.data() + run.end, cost);
                break;
            case RelaxedTask::Kind::counted:
                take_counted<maximum>(task.counted.data() + run.begin, task.counted.data() + run.end, cost);
            }
        }
    }
    return false;
}

template<bool maximum>
void Relaxation::take_active(const RelaxedTask::Dependent *entry, const RelaxedTask::Dependent *end, int32_t cost) {
    Reached *reached = reached_.data();
    for (; entry < end; ++entry) {
        if (entry->other < 0) reach(entry->add, bounded(cost + entry->cost), entry->relaxed);
        else if (reached[entry->other].closed >= 0) finish_pair<maximum>(*entry, cost);
        else --reached[entry->other].closed;
    }
}

template<bool maximum>
void Relaxation::take_counted(const int32_t *entry, const int32_t *end, int32_t cost) {
    RelaxedTask::Counter *counters = counters_.data();
    for (; entry < end; ++entry) {
        RelaxedTask::Counter &counter = counters[*entry];
        --counter.open;
        if (!maximum || counter.open == 0) counter.cost = bounded(counter.cost + cost);
        if (counter.open > 0) continue;
        int32_t relaxed = task_->counter_operator[*entry];
        for (int32_t f : task_->adds[relaxed]) reach(f, counter.cost, relaxed);
    }
}

double Relaxation::extract_plan() {
    if (++mark_ == 0) {
        std::fill(action_mark_.begin(), action_mark_.end(), 0);
        mark_ = 1;
    }
    stack_.assign(task_->goal.begin(), task_->goal.end());
    double total = 0;
    while (!stack_.empty()) {
        int32_t fact = stack_.back();
        stack_.pop_back();
        if (reached_[fact].mark == mark_) continue;
        reached_[fact].mark = mark_;
        int32_t r = reached_[fact].supporter;
        if (r < 0) continue;
        if (task_->conditional) added_.push_back(fact);
        for (int32_t f : task_->preconditions[r])
            if (reached_[f].mark != mark_) stack_.push_back(f);
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
