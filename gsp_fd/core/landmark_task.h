// A ground task as the landmark factories look at it: operators and axioms alike, who achieves a fact, and what can be
// reached in the delete relaxation while some facts are never made true.
#pragma once

#include "default_axioms.h"

namespace gsp {

class LandmarkTask {
public:
    LandmarkTask(const GroundTask &task, AxiomHandling handling, Watch &watch);

    /// Operators have their own numbers; an axiom has the number -1 - i.
    const Operator &achiever(int32_t id) const { return id >= 0 ? ground.operators[id] : axioms_[-1 - id]; }
    int32_t cost(int32_t id) const { return achiever(id).cost; }
    /// Operators in their order and then axioms, once for every effect on the fact.
    std::span<const int32_t> achievers(Fact fact) const { return achievers_[ground.fact_id(fact)]; }
    bool are_mutex(Fact a, Fact b) const;

    /// Per fact: 1 if it can be reached without any of `excluded`. Valid until the next call.
    const std::vector<char> &reach_without(const std::vector<Fact> &excluded);
    bool reached(Fact fact) const { return reached_[ground.fact_id(fact)]; }
    bool reached(const std::vector<Fact> &facts) const {
        return std::all_of(facts.begin(), facts.end(), [&](Fact fact) { return reached(fact); });
    }

    const GroundTask &ground;
    std::vector<int32_t> initial;  // with derived values
    bool holds_initially(Fact fact) const { return initial[fact.variable] == fact.value; }

private:
    void add_rules(int32_t id);
    void reach(int32_t fact) {
        if (reached_[fact] || excluded_[fact]) return;
        reached_[fact] = 1;
        queue_.push_back(fact);
    }
    void fire(int32_t rule) {
        if (excluded_operators_[operator_of_[rule]]) return;
        for (int32_t fact : adds_[rule]) reach(fact);
    }

    std::vector<Operator> axioms_;
    Rows achievers_, mutex_groups_;       // per fact
    Rows preconditions_, adds_, needed_by_;  // of rules: an operator with the effects under one condition
    std::vector<int32_t> operator_of_;    // per rule; all axioms share the number behind the operators
    std::vector<int32_t> unconditional_, open_;
    std::vector<char> reached_, excluded_, excluded_operators_;
    std::vector<int32_t> queue_;
    Watch &watch_;
};

}  // namespace gsp
