// From a lifted task to a ground one: relaxed reachability, mutex groups, finite-domain variables.
#pragma once

#include <optional>

#include "ground_task.h"

namespace gsp {

/// An action of ground STRIPS over the fluent atoms that the relaxed task reaches.
struct GroundAction {
    std::span<const int32_t> pre, neg, add, del;  // sorted; add and del are disjoint
    std::span<const int32_t> tuple;               // (schema, objects...)
    int32_t cost;
    std::span<const int32_t> effects;             // numbers of conditional effects
};

/// A conditional effect of an action, or with one added atom and nothing deleted an axiom.
struct GroundRule {
    std::span<const int32_t> pre, neg, add, del;
};

/// Rows of GroundRule.
class GroundRules {
public:
    size_t size() const { return pre_.size(); }
    GroundRule operator[](size_t i) const { return {pre_[i], neg_[i], add_[i], del_[i]}; }
    void push(const GroundRule &rule) {
        pre_.push(rule.pre);
        neg_.push(rule.neg);
        add_.push(rule.add);
        del_.push(rule.del);
    }
    void before_growth(Watch &watch) const {
        for (const Rows *rows : {&pre_, &neg_, &add_, &del_}) watch.before_growth(rows->begin, rows->values);
    }

private:
    Rows pre_, neg_, add_, del_;
};

/// Atoms are numbered by `atoms`.
struct Grounding {
    std::vector<GroundAtom> atoms;
    std::vector<int32_t> init, goal_positive, goal_negative;
    GroundRules effects, axioms;
    bool solvable = true;  // false: the relaxed task does not reach the goal

    size_t num_actions() const { return costs_.size(); }
    GroundAction action(size_t i) const {
        GroundRule rule = rules_[i];
        return {rule.pre, rule.neg, rule.add, rule.del, tuples_[i], costs_[i], effects_[i]};
    }
    void add_action(const GroundAction &action) {
        rules_.push({action.pre, action.neg, action.add, action.del});
        tuples_.push(action.tuple);
        effects_.push(action.effects);
        costs_.push_back(action.cost);
    }

    void before_growth(Watch &watch) const {
        for (const GroundRules *rules : {&rules_, &effects, &axioms}) rules->before_growth(watch);
        for (const Rows *rows : {&tuples_, &effects_}) watch.before_growth(rows->begin, rows->values);
        watch.before_growth(costs_);
    }

private:
    GroundRules rules_;
    Rows tuples_, effects_;
    std::vector<int32_t> costs_;
};

/// Nothing if there are more than `max_actions`.
std::optional<Grounding> ground_actions(const LiftedTask &task, size_t max_actions, Watch &watch);

/// Sets of atoms of which exactly one is true initially and no action makes more than one true.
std::vector<std::vector<int32_t>> mutex_groups(const LiftedTask &task, const Grounding &grounding, Watch &watch);

/// Reachable actions up to which searches and heuristics work on the ground task; beyond, on the lifted one.
constexpr size_t small_grounding = 200'000;

/// Null if there are more than `max_actions` reachable actions.
std::shared_ptr<GroundTask> ground(std::shared_ptr<const LiftedTask> task, size_t max_actions, Watch &watch);

}  // namespace gsp
