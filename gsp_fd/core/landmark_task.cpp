#include "landmark_task.h"

#include <map>

namespace gsp {

LandmarkTask::LandmarkTask(const GroundTask &task, AxiomHandling handling, Watch &watch)
    : ground(task), initial(task.initial), watch_(watch) {
    task.evaluate_axioms(initial.data());
    auto add_axiom = [&](const Axiom &axiom) {
        // Derived variables are binary: an axiom needs the other value.
        axioms_.push_back({.preconditions = {{axiom.effect.variable, 1 - axiom.effect.value}},
                           .effects = {{axiom.conditions, axiom.effect}}, .cost = 0});
    };
    for (const Axiom &axiom : task.axioms) add_axiom(axiom);
    for (const Axiom &axiom : default_value_axioms(task, handling, watch)) add_axiom(axiom);

    Rows effects;  // per operator, then per axiom
    const auto operators = static_cast<int32_t>(task.operators.size()), axioms = static_cast<int32_t>(axioms_.size());
    for (int32_t i = 0; i < operators + axioms; ++i) {
        watch.throw_if_expired();
        watch.before_growth(effects.values, preconditions_.values, adds_.values, operator_of_);
        int32_t id = i < operators ? i : -1 - (i - operators);
        for (const Effect &effect : achiever(id).effects) effects.values.push_back(task.fact_id(effect.fact));
        effects.close();
        add_rules(id);
    }
    achievers_ = effects.inverted(task.num_facts());
    for (int32_t &i : achievers_.values)
        if (i >= operators) i = -1 - (i - operators);
    needed_by_ = preconditions_.inverted(task.num_facts());

    Rows groups;
    for (const auto &group : task.mutex_groups) {
        for (Fact fact : group) groups.values.push_back(task.fact_id(fact));
        groups.close();
    }
    mutex_groups_ = groups.inverted(task.num_facts());
    excluded_.assign(task.num_facts(), 0);
    excluded_operators_.assign(operators + 1, 0);
}

void LandmarkTask::add_rules(int32_t id) {
    const Operator &op = achiever(id);
    std::map<std::vector<Fact>, std::vector<int32_t>> groups;
    for (const Effect &effect : op.effects) groups[effect.conditions].push_back(ground.fact_id(effect.fact));
    for (const auto &[conditions, added] : groups) {
        std::vector<int32_t> needed;
        for (Fact fact : op.preconditions) needed.push_back(ground.fact_id(fact));
        for (Fact fact : conditions) needed.push_back(ground.fact_id(fact));
        std::sort(needed.begin(), needed.end());
        needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
        if (needed.empty()) unconditional_.push_back(static_cast<int32_t>(operator_of_.size()));
        preconditions_.push(needed);
        adds_.push(added);
        operator_of_.push_back(id >= 0 ? id : static_cast<int32_t>(ground.operators.size()));
    }
}

bool LandmarkTask::are_mutex(Fact a, Fact b) const {
    if (a.variable == b.variable) return a.value != b.value;
    auto of_a = mutex_groups_[ground.fact_id(a)], of_b = mutex_groups_[ground.fact_id(b)];
    for (auto x = of_a.begin(), y = of_b.begin(); x != of_a.end() && y != of_b.end();) {
        if (*x == *y) return true;
        *x < *y ? ++x : ++y;
    }
    return false;
}

const std::vector<char> &LandmarkTask::reach_without(const std::vector<Fact> &excluded) {
    watch_.throw_if_expired();
    // An operator that always makes an excluded fact true is never applied; one that does so under a condition may be.
    std::vector<int32_t> operators;
    for (Fact fact : excluded) {
        excluded_[ground.fact_id(fact)] = 1;
        for (int32_t id : achievers(fact)) {
            if (id < 0) continue;
            for (const Effect &effect : achiever(id).effects)
                if (effect.fact == fact && effect.conditions.empty()) operators.push_back(id);
        }
    }
    for (int32_t id : operators) excluded_operators_[id] = 1;

    reached_.assign(ground.num_facts(), 0);
    open_.resize(operator_of_.size());
    for (size_t rule = 0; rule < open_.size(); ++rule) open_[rule] = static_cast<int32_t>(preconditions_[rule].size());
    queue_.clear();
    for (size_t v = 0; v < initial.size(); ++v) reach(ground.first_fact[v] + initial[v]);
    for (int32_t rule : unconditional_) fire(rule);
    for (size_t next = 0; next < queue_.size(); ++next)
        for (int32_t rule : needed_by_[queue_[next]])
            if (--open_[rule] == 0) fire(rule);

    for (int32_t id : operators) excluded_operators_[id] = 0;
    for (Fact fact : excluded) excluded_[ground.fact_id(fact)] = 0;
    return reached_;
}

}  // namespace gsp
