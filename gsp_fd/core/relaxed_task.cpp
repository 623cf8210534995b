#include "relaxed_task.h"

#include <algorithm>
#include <map>

#include "ground_values.h"
#include "lifted_view.h"

namespace gsp {

void RelaxedTask::finish(size_t num_facts, Watch &watch) {
    watch.expect(num_facts * (sizeof(Reached) + sizeof(FactInfo)));
    unreached.assign(num_facts, {infinite, -1, -1, 0});
    facts.assign(num_facts + 1, {0, 0, many, -1});
    for (int32_t f : goal) facts[f].target = is_goal;
    counter_of_.assign(base_cost.size(), -1);
    for (size_t r = 0; r < base_cost.size(); ++r) {
        if (preconditions[r].size() <= 2) continue;
        counter_of_[r] = static_cast<int32_t>(fresh.size());
        fresh.push_back({base_cost[r], static_cast<int32_t>(preconditions[r].size())});
        counter_operator.push_back(static_cast<int32_t>(r));
    }
    watch.expect(preconditions.bytes());
    Rows needed_by = preconditions.inverted(num_facts);
    for (int32_t f = 0; f < static_cast<int32_t>(num_facts); ++f) {
        add_entries(f, needed_by[f], needed_by, watch);
        facts[f + 1].first_run = static_cast<int32_t>(runs.size());
        facts[f + 1].first_active = static_cast<int32_t>(active.size());
    }
    counter_of_ = {};
    // The second time around, a target with targets of its own is replaced by those.
    find_targets(needed_by, watch);
    find_targets(needed_by, watch);
}

void RelaxedTask::add_entries(int32_t fact, std::span<const int32_t> operators, const Rows &needed_by, Watch &watch) {
    auto is_rarer_than = [&](int32_t other) {
        size_t own = operators.size(), others = needed_by[other].size();
        return own < others || (own == others && fact > other);
    };
    const size_t first_run = runs.size();
    auto extend_run = [&](Kind kind, size_t begin, size_t end) {
        if (runs.size() == first_run || runs.back().kind != kind) runs.push_back({kind, static_cast<int32_t>(begin), 0});
        runs.back().end = static_cast<int32_t>(end);
    };
    for (int32_t r : operators) {
        watch.throw_if_expired();
        watch.before_growth(active, passive, counted, runs);
        auto needs = preconditions[r];
        if (needs.size() > 2) {
            counted.push_back(counter_of_[r]);
            extend_run(Kind::counted, counted.size() - 1, counted.size());
            continue;
        }
        int32_t other = needs.size() == 1 ? -1 : needs[0] == fact ? needs[1] : needs[0];
        bool is_active = other < 0 || is_rarer_than(other);
        std::vector<Dependent> &entries = is_active ? active : passive;
        size_t begin = entries.size();
        for (int32_t add : adds[r]) entries.push_back({other, add, base_cost[r], r});
        extend_run(is_active ? Kind::active : Kind::passive, begin, entries.size());
    }
}

void RelaxedTask::find_targets(const Rows &needed_by, Watch &watch) {
    auto add = [](std::vector<int32_t> &found, int32_t fact) {
        if (fact >= 0 && std::find(found.begin(), found.end(), fact) == found.end()) found.push_back(fact);
    };
    std::vector<FactInfo> last = facts;
    std::vector<int32_t> direct, indirect;
    for (size_t f = 0; f < needed_by.size(); ++f) {
        watch.throw_if_expired();
        if (facts[f].target == is_goal) continue;
        direct.clear();
        for (int32_t r : needed_by[f]) {
            for (int32_t fact : adds[r]) add(direct, fact);
            if (direct.size() > 2) break;
        }
        if (direct.empty() || direct.size() > 2) continue;
        indirect.clear();
        for (int32_t t : direct)
            for (int32_t fact : {last[t].target < 0 ? t : last[t].target, last[t].target < 0 ? -1 : last[t].other_target})
                add(indirect, fact);
        const std::vector<int32_t> &chosen = indirect.size() <= 2 ? indirect : direct;
        facts[f].target = chosen[0];
        facts[f].other_target = chosen.size() == 2 ? chosen[1] : -1;
    }
}

namespace {

class GroundRelaxedTask final : public RelaxedTask, public std::enable_shared_from_this<GroundRelaxedTask> {
public:
    GroundRelaxedTask(std::shared_ptr<const GroundTask> source, CostType cost_type, AxiomHandling handling, Watch &watch);
    std::unique_ptr<RelaxedView> view(StateSpace &space) const override;

    std::shared_ptr<const GroundTask> ground;
    std::vector<int32_t> dense;        // fact -> number among the needed ones, or -1
    std::vector<int32_t> operator_of;  // per relaxed operator; -1 for an axiom
    TupleTable lifted_atoms;           // numbered as in GroundTask::atom_facts
    std::vector<int32_t> atom_of;      // fact -> one of these atoms, or -1; only if `conditional`

private:
    void number_facts(const std::vector<Axiom> &axioms);
    void find_atoms();
    void add_operator(size_t o, CostType cost_type);
    void add_dense(const std::vector<Fact> &facts, std::vector<int32_t> &out) const {
        for (const Fact &fact : facts) out.push_back(dense[ground->fact_id(fact)]);
    }
    void add(std::vector<int32_t> facts, const std::vector<int32_t> &added, int32_t op, int32_t cost);
};

GroundRelaxedTask::GroundRelaxedTask(std::shared_ptr<const GroundTask> source, CostType cost_type, AxiomHandling handling,
                                     Watch &watch)
    : ground(std::move(source)) {
    const GroundTask &task = *ground;
    std::vector<Axiom> axioms = default_value_axioms(task, handling, watch);
    axioms.insert(axioms.begin(), task.axioms.begin(), task.axioms.end());
    number_facts(axioms);
    for (size_t o = 0; o < task.operators.size(); ++o) {
        watch.step();
        watch.before_growth(preconditions.values, preconditions.begin, adds.values, adds.begin, base_cost, operator_of);
        add_operator(o, cost_type);
    }
    for (const Axiom &axiom : axioms) {
        std::vector<int32_t> facts;
        add_dense(axiom.conditions, facts);
        add(std::move(facts), {dense[task.fact_id(axiom.effect)]}, -1, 0);
    }
    for (const Fact &fact : task.goal) {
        int32_t f = dense[task.fact_id(fact)];
        if (std::find(goal.begin(), goal.end(), f) == goal.end()) goal.push_back(f);
    }
    finish(static_cast<size_t>(std::count_if(dense.begin(), dense.end(), [](int32_t f) { return f >= 0; })), watch);
    lifted_atoms = fluent_atoms(task);
    conditional = task.lifted && task.lifted->conditional;
    if (conditional) find_atoms();
}

void GroundRelaxedTask::find_atoms() {
    atom_of.assign(unreached.size(), -1);
    for (size_t a = 0; a < ground->atom_facts.size(); ++a) {
        const GroundTask::AtomFacts &atom = ground->atom_facts[a];
        if (atom.fact.variable < 0 || !ground->lifted->is_stored(atom.predicate)) continue;
        if (int32_t f = dense[ground->fact_id(atom.fact)]; f >= 0) atom_of[f] = static_cast<int32_t>(a);
    }
}

/// Facts that nobody needs (no precondition, no goal) are left out, and the others numbered densely.
void GroundRelaxedTask::number_facts(const std::vector<Axiom> &axioms) {
    const GroundTask &task = *ground;
    std::vector<char> needed(task.num_facts(), 0);
    auto need = [&](const std::vector<Fact> &facts) {
        for (const Fact &fact : facts) needed[task.fact_id(fact)] = 1;
    };
    for (const Operator &op : task.operators) {
        need(op.preconditions);
        for (const Effect &effect : op.effects) need(effect.conditions);
    }
    for (const Axiom &axiom : axioms) need(axiom.conditions);
    need(task.goal);
    dense.assign(task.num_facts(), -1);
    int32_t count = 0;
    for (size_t f = 0; f < needed.size(); ++f)
        if (needed[f]) dense[f] = count++;
}

void GroundRelaxedTask::add_operator(size_t o, CostType cost_type) {
    const Operator &op = ground->operators[o];
    std::map<std::vector<Fact>, std::vector<int32_t>> groups;
    for (const Effect &effect : op.effects) groups[effect.conditions].push_back(dense[ground->fact_id(effect.fact)]);
    for (const auto &[conditions, added] : groups) {
        std::vector<int32_t> facts;
        add_dense(op.preconditions, facts);
        add_dense(conditions, facts);
        add(std::move(facts), added, static_cast<int32_t>(o), adjusted_cost(op.cost, cost_type, ground->unit_cost));
    }
}

void GroundRelaxedTask::add(std::vector<int32_t> facts, const std::vector<int32_t> &added, int32_t op, int32_t cost) {
    std::sort(facts.begin(), facts.end());
    facts.erase(std::unique(facts.begin(), facts.end()), facts.end());
    std::vector<int32_t> useful;
    for (int32_t add : added)
        if (add >= 0 && !std::binary_search(facts.begin(), facts.end(), add)) useful.push_back(add);
    if (useful.empty()) return;
    if (facts.empty()) unconditional.push_back(static_cast<int32_t>(base_cost.size()));
    preconditions.push(facts);
    adds.push(useful);
    base_cost.push_back(std::min(cost, infinite - 1));
    operator_of.push_back(op);
}

class GroundView final : public RelaxedView {
public:
    GroundView(std::shared_ptr<const GroundRelaxedTask> task, std::unique_ptr<StateValues> states)
        : task_(std::move(task)), ground_(*task_->ground), states_(std::move(states)) {}
    void load(int32_t state, std::vector<int32_t> &facts) override {
        const int32_t *values = states_->load(state);
        for (size_t v = 0; v < ground_.variables.size(); ++v)
            if (int32_t f = task_->dense[ground_.first_fact[v] + values[v]]; f >= 0) facts.push_back(f);
    }
    int32_t action(int32_t relaxed, const Reached *) override { return task_->operator_of[relaxed]; }
    std::span<const int32_t> tuple(int32_t action) const override {
        return ground_.lifted ? ground_.operator_tuples[action] : std::span<const int32_t>{};
    }
    int32_t applicable(int32_t action) override { return states_->applicable(action); }
    void append_atom(int32_t fact, Rows &rows) const override {
        if (task_->atom_of[fact] >= 0) push_added(task_->lifted_atoms, task_->atom_of[fact], rows);
    }

private:
    std::shared_ptr<const GroundRelaxedTask> task_;
    const GroundTask &ground_;
    std::unique_ptr<StateValues> states_;
};

std::unique_ptr<RelaxedView> GroundRelaxedTask::view(StateSpace &space) const {
    auto states = values_of(space, *ground, lifted_atoms);
    return states ? std::make_unique<GroundView>(shared_from_this(), std::move(states)) : nullptr;
}

}  // namespace

std::shared_ptr<const RelaxedTask> relax(std::shared_ptr<const GroundTask> task, CostType cost_type, AxiomHandling axioms,
                                         Watch &watch) {
    return std::make_shared<GroundRelaxedTask>(std::move(task), cost_type, axioms, watch);
}

}  // namespace gsp
