// The axioms of a variable are negated: conditions that leave none of them true. Where variables depend on each other in a
// circle that would be wrong, and where it takes too long it is not worth it: then the default value counts as free.
#include "default_axioms.h"

#include <algorithm>
#include <deque>
#include <set>

#include "components.h"
#include "fact_set.h"

namespace gsp {
namespace {

class DefaultAxioms {
public:
    DefaultAxioms(const GroundTask &task, AxiomHandling handling, Watch &watch)
        : task_(task), handling_(handling), watch_(watch), axioms_of_(task.variables.size()),
          default_bodies_(task.variables.size()), other_bodies_(task.variables.size()) {
        for (const Axiom &axiom : task.axioms) {
            // What is needed to derive itself derives nothing, and its default value needs nothing of such an axiom.
            if (std::find(axiom.conditions.begin(), axiom.conditions.end(), axiom.effect) != axiom.conditions.end()) continue;
            int32_t head = axiom.effect.variable;
            axioms_of_[head].push_back(&axiom);
            for (Fact fact : axiom.conditions)
                if (is_derived(fact)) (is_default(fact) ? default_bodies_ : other_bodies_)[head].push_back(fact.variable);
        }
        find_cycles();
    }

    std::vector<Axiom> make() {
        std::vector<Axiom> made;
        for (int32_t v : needed_variables()) {
            Fact head{v, task_.initial[v]};
            if (is_free(v)) made.push_back({{}, head});
            else negate(head, made);
        }
        return made;
    }

private:
    static constexpr size_t most_negated = 10'000;  // axioms of one variable: `choose` goes as deep
    static constexpr size_t most_tries = 100'000;
    bool is_derived(Fact fact) const { return task_.variables[fact.variable].axiom_layer >= 0; }
    bool is_default(Fact fact) const { return fact.value == task_.initial[fact.variable]; }
    bool is_free(int32_t variable) const {
        return handling_ == AxiomHandling::approximate_negative || in_cycle_[variable] || axioms_of_[variable].empty() ||
               axioms_of_[variable].size() > most_negated;
    }

    /// Marks the variables that depend on another one that depends on them, non-default values only: the others are
    /// stratified.
    void find_cycles() {
        in_cycle_.assign(task_.variables.size(), 0);
        for (const std::vector<int32_t> &component : components(other_bodies_))
            for (int32_t v : component) in_cycle_[v] = component.size() > 1;
    }

    /// Derived variables whose default value somebody needs. In `needed`, value 1 stands for the default value.
    std::unordered_set<int32_t> needed_variables() {
        FactSet needed;
        auto need = [&](const std::vector<Fact> &facts) {
            for (Fact fact : facts)
                if (is_derived(fact)) needed.insert({fact.variable, is_default(fact)});
        };
        need(task_.goal);
        for (const Operator &op : task_.operators) {
            need(op.preconditions);
            for (const Effect &effect : op.effects) need(effect.conditions);
        }
        std::deque<Fact> open(needed.begin(), needed.end());
        for (; !open.empty(); open.pop_front()) {
            auto [variable, wants_default] = open.front();
            if (wants_default && (handling_ == AxiomHandling::approximate_negative || in_cycle_[variable])) continue;
            auto add = [&](Fact fact) {
                if (needed.insert(fact).second) open.push_back(fact);
            };
            for (int32_t body : other_bodies_[variable]) add({body, wants_default});
            for (int32_t body : default_bodies_[variable]) add({body, 1 - wants_default});
        }
        std::unordered_set<int32_t> variables;
        for (Fact fact : needed)
            if (fact.value) variables.insert(fact.variable);
        return variables;
    }

    /// One condition of every axiom must be false: an axiom for every smallest choice of them.
    void negate(Fact head, std::vector<Axiom> &made) {
        clauses_.clear();
        for (const Axiom *axiom : axioms_of_[head.variable]) {
            std::set<Fact> &clause = clauses_.emplace_back();
            for (Fact fact : axiom->conditions)
                for (int32_t value = 0; value < task_.variables[fact.variable].size(); ++value)
                    if (value != fact.value) clause.insert({fact.variable, value});
        }
        choices_.clear();
        tries_ = 0;
        choose(0);
        if (tries_ > most_tries) return made.push_back({{}, head});
        for (const std::set<Fact> &choice : choices_) made.push_back({{choice.begin(), choice.end()}, head});
    }
    void choose(size_t index) {
        watch_.throw_if_expired();
        if (++tries_ > most_tries) return;
        while (index < clauses_.size() &&
               std::any_of(clauses_[index].begin(), clauses_[index].end(), [&](Fact f) { return chosen_.contains(f); }))
            ++index;
        if (index == clauses_.size()) {
            if (is_smallest()) choices_.insert(chosen_);
            return;
        }
        for (Fact fact : clauses_[index]) {
            if (!variables_.insert(fact.variable).second) continue;
            chosen_.insert(fact);
            choose(index + 1);
            chosen_.erase(fact);
            variables_.erase(fact.variable);
        }
    }
    /// True if every chosen fact is the only one that some axiom has.
    bool is_smallest() const {
        std::set<Fact> spare = chosen_;
        for (const std::set<Fact> &clause : clauses_) {
            std::vector<Fact> hits;
            std::set_intersection(clause.begin(), clause.end(), chosen_.begin(), chosen_.end(), std::back_inserter(hits));
            if (hits.size() == 1) spare.erase(hits[0]);
        }
        return spare.empty();
    }

    const GroundTask &task_;
    AxiomHandling handling_;
    Watch &watch_;
    std::vector<std::vector<const Axiom *>> axioms_of_;                  // per variable
    std::vector<std::vector<int32_t>> default_bodies_, other_bodies_;  // derived variables in its axioms, by their values
    std::vector<char> in_cycle_;
    std::vector<std::set<Fact>> clauses_;
    std::set<Fact> chosen_;
    std::set<int32_t> variables_;
    std::set<std::set<Fact>> choices_;
    size_t tries_ = 0;
};

}  // namespace

std::vector<Axiom> default_value_axioms(const GroundTask &task, AxiomHandling handling, Watch &watch) {
    if (!task.has_axioms()) return {};
    return DefaultAxioms(task, handling, watch).make();
}

}  // namespace gsp
