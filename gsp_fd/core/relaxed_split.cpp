// The relaxed task of a lifted task that is too large to be grounded: instances of the rules that split its schemas.
#include <unordered_map>

#include "lifted_view.h"
#include "reachability.h"
#include "schema_split.h"

namespace gsp {
namespace {

class SplitRelaxedTask final : public RelaxedTask, public std::enable_shared_from_this<SplitRelaxedTask> {
public:
    SplitRelaxedTask(std::shared_ptr<const LiftedTask> source, CostType cost_type, Watch &watch);
    std::unique_ptr<RelaxedView> view(StateSpace &space) const override;

    std::shared_ptr<const LiftedTask> lifted;
    TupleTable atoms;                                    // of the program that the rules are
    std::vector<int32_t> fact_of;                        // atom -> fact, or -1
    std::vector<std::pair<int32_t, int32_t>> negations;  // (atom, the fact that it is false)
    std::vector<int32_t> atom_of;                        // fact -> atom

    /// The action that a relaxed operator derives an effect of, as (schema, objects...); false if it derives none.
    bool find_tuple(int32_t relaxed, const Reached *reached, std::vector<int32_t> &tuple) const;

private:
    struct Making {
        std::vector<char> initial, reached;  // per atom
        std::vector<int32_t> heads;          // per instance: the atom that it derives, or -1 if that is of no use
        Rows needs;                          // per instance: the atoms that it needs, but for those that always hold
        std::vector<int32_t> goals;
        std::vector<int32_t> relevant;       // atoms in the order of their facts
    };
    void find_instances(Making &making, Watch &watch);
    void find_needs(Making &making, Watch &watch);
    void set_goal(Making &making);
    void find_relevant(Making &making, Watch &watch) const;
    void number_facts(const Making &making);
    void add_operators(const Making &making, CostType cost_type, Watch &watch);
    void fill(int32_t relaxed, const Reached *reached, int32_t *arguments) const;
    void fill_static(int32_t instance, int32_t *arguments) const;

    int32_t atom(const Literal &literal, const int32_t *binding) const {
        int32_t args[LiftedTask::max_parameters];
        for (size_t i = 0; i < literal.args.size(); ++i) args[i] = ground_term(literal.args[i], binding);
        return atoms.find(literal.predicate, args, literal.args.size());
    }
    /// The atom that says that this atom is false.
    int32_t negation(int32_t atom) {
        std::vector<int32_t> args(atoms.args(atom), atoms.args(atom) + atoms.count(atom));
        return atoms.intern(split_.negation(atoms.symbol(atom)), args.data(), args.size());
    }
    bool holds_always(int32_t atom, const Making &making) const {
        int32_t predicate = atoms.symbol(atom);
        if (split_.is_auxiliary(predicate)) return split_.is_static(predicate);
        return predicate < split_.num_predicates() && split_.never_deleted[predicate] && making.initial[atom];
    }
    const RuleOrigin &origin(int32_t instance) const { return split_.origins[rule_of_[instance]]; }

    SplitTask split_;
    std::vector<int32_t> rule_of_;                         // per instance
    Rows bindings_;                                        // per instance
    std::vector<int32_t> instance_of_;                     // per relaxed operator
    int32_t first_auxiliary_ = 0;                          // fact; facts of auxiliary atoms come last
    std::unordered_map<int32_t, int32_t> static_support_;  // auxiliary atom that always holds -> an instance that derives it
};

SplitRelaxedTask::SplitRelaxedTask(std::shared_ptr<const LiftedTask> source, CostType cost_type, Watch &watch)
    : lifted(std::move(source)), split_(split_schemas(*lifted)) {
    conditional = lifted->conditional;
    Making making;
    find_instances(making, watch);
    find_needs(making, watch);
    set_goal(making);
    find_relevant(making, watch);
    number_facts(making);
    add_operators(making, cost_type, watch);
    finish(making.relevant.size(), watch);
}

void SplitRelaxedTask::find_instances(Making &making, Watch &watch) {
    Reachability reachability(split_.program, watch);
    reachability.run([&](size_t rule, const int32_t *binding) {
        watch.before_growth(rule_of_, bindings_.begin, bindings_.values);
        rule_of_.push_back(static_cast<int32_t>(rule));
        bindings_.push(std::span(binding, split_.program.schemas[rule].parameters.size()));
    });
    atoms = std::move(reachability.database().atoms());
    making.initial.assign(atoms.size(), 0);
    making.reached.assign(atoms.size(), 0);
    for (const GroundAtom &fact : lifted->init)
        making.initial[atoms.find(fact.predicate, fact.args.data(), fact.args.size())] = 1;
    for (int32_t a : reachability.reached()) making.reached[a] = 1;
}

void SplitRelaxedTask::find_needs(Making &making, Watch &watch) {
    for (size_t i = 0; i < rule_of_.size(); ++i) {
        watch.throw_if_expired();
        watch.before_growth(making.needs.values, making.needs.begin, making.heads);
        const Schema &rule = split_.program.schemas[rule_of_[i]];
        const int32_t *binding = bindings_[i].data();
        int32_t head = atom(rule.add[0], binding);
        bool useful = !holds_always(head, making);
        if (split_.is_static(rule.add[0].predicate)) static_support_.emplace(head, static_cast<int32_t>(i));
        auto &needs = making.needs.values;
        auto begin = static_cast<std::ptrdiff_t>(needs.size());
        if (useful) {
            for (const Literal &literal : rule.positive)
                if (split_.program.fluent[literal.predicate])
                    if (int32_t a = atom(literal, binding); !holds_always(a, making)) needs.push_back(a);
            for (const Literal &literal : rule.negative)
                if (int32_t a = atom(literal, binding); a >= 0 && making.reached[a]) needs.push_back(negation(a));
            std::sort(needs.begin() + begin, needs.end());
            needs.erase(std::unique(needs.begin() + begin, needs.end()), needs.end());
            useful = !std::binary_search(needs.begin() + begin, needs.end(), head);
        }
        if (!useful) needs.resize(static_cast<size_t>(begin));
        making.needs.close();
        making.heads.push_back(useful ? head : -1);
    }
}

void SplitRelaxedTask::set_goal(Making &making) {
    auto known = [&](int32_t a, const std::vector<char> &set) { return a >= 0 && static_cast<size_t>(a) < set.size() && set[a]; };
    auto add = [&](int32_t a) {
        if (std::find(making.goals.begin(), making.goals.end(), a) == making.goals.end()) making.goals.push_back(a);
    };
    for (const GroundAtom &fact : lifted->goal_positive) {
        int32_t a = atoms.find(fact.predicate, fact.args.data(), fact.args.size());
        if (!lifted->fluent[fact.predicate]) solvable = solvable && known(a, making.initial);
        else if (!known(a, making.reached)) solvable = false;
        else if (!holds_always(a, making)) add(a);
    }
    for (const GroundAtom &fact : lifted->goal_negative) {
        int32_t a = atoms.find(fact.predicate, fact.args.data(), fact.args.size());
        if (!lifted->fluent[fact.predicate]) solvable = solvable && !known(a, making.initial);
        else if (known(a, making.reached)) add(negation(a));
    }
}

/// The goal and everything that the derivation of something relevant needs.
void SplitRelaxedTask::find_relevant(Making &making, Watch &watch) const {
    watch.expect(making.heads.size() * 4 * sizeof(int32_t));
    Rows heads;  // per instance
    for (int32_t head : making.heads) {
        if (head >= 0) heads.values.push_back(head);
        heads.close();
    }
    Rows derivations = heads.inverted(atoms.size());  // per atom: the instances that derive it
    std::vector<char> marked(atoms.size(), 0);
    auto mark = [&](int32_t a) {
        if (!marked[a]) marked[a] = 1, making.relevant.push_back(a);
    };
    for (int32_t a : making.goals) mark(a);
    for (size_t next = 0; next < making.relevant.size(); ++next) {
        watch.throw_if_expired();
        for (int32_t i : derivations[making.relevant[next]])
            for (int32_t needed : making.needs[i]) mark(needed);
    }
    // Atoms in the order in which they were reached: evaluations will mostly look at them in a similar order.
    std::sort(making.relevant.begin(), making.relevant.end(), [&](int32_t a, int32_t b) {
        return std::pair(split_.is_auxiliary(atoms.symbol(a)), a) < std::pair(split_.is_auxiliary(atoms.symbol(b)), b);
    });
}

void SplitRelaxedTask::number_facts(const Making &making) {
    fact_of.assign(atoms.size(), -1);
    for (size_t f = 0; f < making.relevant.size(); ++f) {
        int32_t a = making.relevant[f];
        fact_of[a] = static_cast<int32_t>(f);
        if (conditional) atom_of.push_back(a);
        if (!split_.is_auxiliary(atoms.symbol(a))) first_auxiliary_ = fact_of[a] + 1;
        int32_t predicate = atoms.symbol(a) - split_.num_predicates();
        if (predicate < 0 || predicate >= split_.num_predicates()) continue;
        negations.emplace_back(atoms.find(predicate, atoms.args(a), lifted->arities[predicate]), fact_of[a]);
    }
    for (int32_t a : making.goals) goal.push_back(fact_of[a]);
}

void SplitRelaxedTask::add_operators(const Making &making, CostType cost_type, Watch &watch) {
    for (int32_t i = 0; i < static_cast<int32_t>(rule_of_.size()); ++i) {
        watch.throw_if_expired();
        int32_t head = making.heads[i];
        if (head < 0 || fact_of[head] < 0) continue;
        watch.before_growth(base_cost, preconditions.values, preconditions.begin, adds.values, adds.begin, instance_of_);
        const Schema &rule = split_.program.schemas[rule_of_[i]];
        int32_t cost = 0;
        if (origin(i).final) cost = adjusted_cost(split_.program.cost(rule, bindings_[i].data()), cost_type, lifted->unit_cost);
        if (making.needs[i].empty()) unconditional.push_back(static_cast<int32_t>(base_cost.size()));
        base_cost.push_back(std::min(cost, infinite - 1));
        for (int32_t a : making.needs[i]) preconditions.values.push_back(fact_of[a]);
        preconditions.close();
        adds.values.push_back(fact_of[head]);
        adds.close();
        instance_of_.push_back(i);
    }
}

bool SplitRelaxedTask::find_tuple(int32_t relaxed, const Reached *reached, std::vector<int32_t> &tuple) const {
    const RuleOrigin &from = origin(instance_of_[relaxed]);
    if (!from.final) return false;
    tuple.assign(1 + lifted->schemas[from.schema].parameters.size(), -1);
    tuple[0] = from.schema;
    fill(relaxed, reached, tuple.data() + 1);
    return true;
}

/// Sets the parameters that a rule instance knows, and through its auxiliary atoms the others.
void SplitRelaxedTask::fill(int32_t relaxed, const Reached *reached, int32_t *arguments) const {
    fill_static(instance_of_[relaxed], arguments);
    for (int32_t fact : preconditions[relaxed])
        if (fact >= first_auxiliary_) fill(reached[fact].supporter, reached, arguments);
}

void SplitRelaxedTask::fill_static(int32_t instance, int32_t *arguments) const {
    const int32_t *binding = bindings_[instance].data();
    const std::vector<int32_t> &parameters = origin(instance).parameters;
    for (size_t k = 0; k < parameters.size(); ++k) arguments[parameters[k]] = binding[k];
    for (const Literal &literal : split_.program.schemas[rule_of_[instance]].positive)
        if (split_.is_static(literal.predicate)) fill_static(static_support_.at(atom(literal, binding)), arguments);
}

/// States of a lifted space of the same task.
class SplitView final : public LiftedView {
public:
    SplitView(std::shared_ptr<const SplitRelaxedTask> task, LiftedSpace &space)
        : LiftedView(space, task->atoms), task_(std::move(task)), loaded_(task_->negations.empty() ? 0 : task_->atoms.size(), -1) {}
    void load(int32_t state, std::vector<int32_t> &facts) override {
        state_ = state;
        ++loads_;
        for (int32_t atom : space_.atoms(state)) {
            int32_t known = lookup(atom);
            if (known < 0) continue;
            if (!loaded_.empty()) loaded_[known] = loads_;
            if (task_->fact_of[known] >= 0) facts.push_back(task_->fact_of[known]);
        }
        for (auto [atom, fact] : task_->negations)
            if (loaded_[atom] != loads_) facts.push_back(fact);
    }
    int32_t action(int32_t relaxed, const Reached *reached) override {
        if (!task_->find_tuple(relaxed, reached, tuple_)) return -1;
        return actions_.intern(0, tuple_.data(), tuple_.size());
    }
    std::span<const int32_t> tuple(int32_t action) const override { return {actions_.args(action), actions_.count(action)}; }
    void append_atom(int32_t fact, Rows &rows) const override {
        const int32_t atom = task_->atom_of[fact], predicate = task_->atoms.symbol(atom);
        if (predicate < static_cast<int32_t>(task_->lifted->predicates.size()) && task_->lifted->is_stored(predicate))
            push_added(task_->atoms, atom, rows);
    }

private:
    std::shared_ptr<const SplitRelaxedTask> task_;
    std::vector<int64_t> loaded_;  // per atom: the last load in which it was true
    int64_t loads_ = 0;
    TupleTable actions_;
    std::vector<int32_t> tuple_;
};

std::unique_ptr<RelaxedView> SplitRelaxedTask::view(StateSpace &space) const {
    auto *own = dynamic_cast<LiftedSpace *>(&space);
    if (!own || &own->task() != lifted.get()) return nullptr;
    return std::make_unique<SplitView>(shared_from_this(), *own);
}

}  // namespace

std::shared_ptr<const RelaxedTask> relax(std::shared_ptr<const LiftedTask> task, CostType cost_type, Watch &watch) {
    return std::make_shared<SplitRelaxedTask>(std::move(task), cost_type, watch);
}

}  // namespace gsp
