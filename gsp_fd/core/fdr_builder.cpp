// Ground actions to finite-domain variables: each mutex group becomes a variable, largest first; what is left is binary.
#include <algorithm>
#include <queue>

#include "axiom_layers.h"

namespace gsp {
namespace {


constexpr const char *none_of_those = "<none of those>";

class FdrBuilder {
public:
    FdrBuilder(const LiftedTask &task, const Grounding &grounding, std::vector<std::vector<int32_t>> groups, Watch &watch)
        : task_(task), grounding_(grounding), watch_(watch), groups_(std::move(groups)), place_(grounding.atoms.size(), {-1, -1}),
          mirror_(grounding.atoms.size(), -1) {}

    std::shared_ptr<GroundTask> run() {
        out_ = std::make_shared<GroundTask>();
        out_->metric = task_.metric;
        if (!grounding_.solvable) return trivial(false);
        layer_ = axiom_layers(task_, grounding_, watch_);
        choose_variables();
        mirror_negated();
        set_initial_and_goal();
        for (size_t i = 0; i < grounding_.num_actions(); ++i) add_operator(grounding_.action(i));
        for (size_t i = 0; i < grounding_.axioms.size(); ++i) add_axiom(grounding_.axioms[i]);
        if (contradictory_goal_) return trivial(false);
        if (out_->goal.empty()) return trivial(true);
        drop_irrelevant();
        add_mutex_groups();
        add_atom_facts();
        out_->finish(&watch_);
        return out_;
    }

private:
    std::string name(int32_t atom) const {
        return task_.atom_name(grounding_.atoms[atom].predicate, grounding_.atoms[atom].args.data());
    }

    /// A task with one variable, solved from the start or never.
    std::shared_ptr<GroundTask> trivial(bool solved) {
        auto task = std::make_shared<GroundTask>();
        task->metric = task_.metric;
        task->variables.push_back({"var0", -1, {"Atom dummy(val1)", "Atom dummy(val2)"}});
        task->initial = {0};
        task->goal = {{0, solved ? 0 : 1}};
        task->finish();
        return task;
    }

    void add_variable(const std::vector<int32_t> &atoms, bool with_none) {
        auto variable = static_cast<int32_t>(out_->variables.size());
        Variable v{"var" + std::to_string(variable), layer_[atoms[0]], {}};
        for (int32_t atom : atoms) {
            place_[atom] = {variable, static_cast<int32_t>(v.value_names.size())};
            v.value_names.push_back("Atom " + name(atom));
        }
        if (atoms.size() == 1) v.value_names.push_back("NegatedAtom " + name(atoms[0]));
        else if (with_none) v.value_names.push_back(none_of_those);
        none_.push_back(with_none ? static_cast<int32_t>(atoms.size()) : -1);
        out_->variables.push_back(std::move(v));
    }
    void choose_variables() {
        Rows members;
        for (const auto &group : groups_) members.push(group);
        Rows groups_of = members.inverted(place_.size());
        std::vector<int32_t> open(groups_.size());
        std::priority_queue<std::pair<int32_t, int32_t>> queue;  // (uncovered atoms, group)
        for (size_t g = 0; g < groups_.size(); ++g) {
            open[g] = static_cast<int32_t>(groups_[g].size());
            queue.emplace(open[g], -static_cast<int32_t>(g));
        }
        while (!queue.empty()) {
            watch_.throw_if_expired();
            auto [size, negated] = queue.top();
            queue.pop();
            int32_t g = -negated;
            if (size != open[g] || size < 2) {
                if (size > open[g] && open[g] >= 2) queue.emplace(open[g], negated);
                continue;
            }
            std::vector<int32_t> atoms;
            for (int32_t a : groups_[g])
                if (place_[a].variable < 0) atoms.push_back(a);
            add_variable(atoms, atoms.size() < groups_[g].size() || !exactly_one(g));
            for (int32_t a : atoms)
                for (int32_t other : groups_of[a]) --open[other];
        }
        for (size_t a = 0; a < place_.size(); ++a)
            if (place_[a].variable < 0) add_variable({static_cast<int32_t>(a)}, true);
    }
    /// True if no action takes the group's atom away without giving it another one.
    bool exactly_one(int32_t g) {
        if (leaves_none_.empty()) find_groups_left_empty();
        return !leaves_none_[g];
    }
    void find_groups_left_empty() {
        leaves_none_.assign(groups_.size(), 0);
        Rows members;
        for (const auto &group : groups_) members.push(group);
        Rows groups_of = members.inverted(place_.size());
        std::vector<int32_t> gains;
        for (size_t i = 0; i < grounding_.num_actions(); ++i) {
            watch_.throw_if_expired();
            GroundAction action = grounding_.action(i);
            gains.clear();
            for (int32_t a : action.add)
                for (int32_t g : groups_of[a]) gains.push_back(g);
            for (int32_t a : action.del)
                for (int32_t g : groups_of[a])
                    if (std::find(gains.begin(), gains.end(), g) == gains.end()) leaves_none_[g] = 1;
        }
        for (size_t i = 0; i < grounding_.effects.size(); ++i)
            for (int32_t a : grounding_.effects[i].del)
                for (int32_t g : groups_of[a]) leaves_none_[g] = 1;
    }

    /// Negative conditions are facts too: on a binary variable its other value, on a larger one a variable of its own that
    /// follows the atom. Only conditions that the positive ones do not decide count.
    void mirror_negated() {
        for (size_t i = 0; i < grounding_.num_actions(); ++i) {
            watch_.throw_if_expired();
            for (int32_t a : grounding_.action(i).neg)
                if (!decided(grounding_.action(i).pre, a)) mirror(a);
        }
        for (const GroundRules *rules : {&grounding_.effects, &grounding_.axioms})
            for (size_t i = 0; i < rules->size(); ++i)
                for (int32_t a : (*rules)[i].neg)
                    if (!decided((*rules)[i].pre, a)) mirror(a);
        for (int32_t a : grounding_.goal_negative) mirror(a);
    }
    bool decided(std::span<const int32_t> conditions, int32_t atom) const {
        return std::any_of(conditions.begin(), conditions.end(),
                           [&](int32_t pre) { return place_[pre].variable == place_[atom].variable; });
    }
    void mirror(int32_t atom) {
        if (mirror_[atom] >= 0 || out_->variables[place_[atom].variable].size() == 2) return;
        mirror_[atom] = static_cast<int32_t>(out_->variables.size());
        out_->variables.push_back({"var" + std::to_string(mirror_[atom]), -1,
                                   {"Atom " + name(atom), "NegatedAtom " + name(atom)}});
        none_.push_back(1);
    }
    /// The fact "atom is false".
    Fact negated(int32_t atom) const {
        if (mirror_[atom] >= 0) return {mirror_[atom], 1};
        return {place_[atom].variable, 1 - place_[atom].value};
    }

    void set_initial_and_goal() {
        out_->initial.assign(out_->variables.size(), 0);
        for (size_t v = 0; v < none_.size(); ++v) out_->initial[v] = std::max(none_[v], 0);
        for (int32_t a : grounding_.init) {
            out_->initial[place_[a].variable] = place_[a].value;
            if (mirror_[a] >= 0) out_->initial[mirror_[a]] = 0;
        }
        for (int32_t a : grounding_.goal_positive) out_->goal.push_back(place_[a]);
        for (int32_t a : grounding_.goal_negative) out_->goal.push_back(negated(a));
        contradictory_goal_ = !normalise(out_->goal);
    }
    /// Sorts and removes repetitions; false if a variable has two values.
    static bool normalise(std::vector<Fact> &facts) {
        std::sort(facts.begin(), facts.end());
        facts.erase(std::unique(facts.begin(), facts.end()), facts.end());
        for (size_t i = 1; i < facts.size(); ++i)
            if (facts[i].variable == facts[i - 1].variable) return false;
        return true;
    }

    /// Conditions as facts; false if they can never hold.
    bool facts(std::span<const int32_t> positive, std::span<const int32_t> negative, std::vector<Fact> &out) const {
        for (int32_t a : positive) out.push_back(place_[a]);
        for (int32_t a : negative)
            if (!decided(positive, a)) out.push_back(negated(a));
        return normalise(out);
    }
    static int32_t required(const std::vector<Fact> &conditions, int32_t variable) {
        for (const Fact &fact : conditions)
            if (fact.variable == variable) return fact.value;
        return -1;
    }
    void add_operator(const GroundAction &action) {
        watch_.throw_if_expired();
        Operator op;
        op.cost = action.cost;
        if (!facts(action.pre, action.neg, op.preconditions)) return;
        if (action.effects.empty()) set_effects(action, op);
        else set_conditional_effects(action, op);
        if (op.effects.empty()) return;
        watch_.before_growth(out_->operators, out_->operator_tuples.values, out_->operator_tuples.begin);
        out_->operators.push_back(std::move(op));
        out_->operator_tuples.push(action.tuple);
    }
    void set_effects(const GroundAction &action, Operator &op) {
        auto set = [&](std::vector<Fact> conditions, Fact fact) {
            if (!conditions.empty() || required(op.preconditions, fact.variable) != fact.value)
                op.effects.push_back({std::move(conditions), fact});
        };
        for (int32_t a : action.add) add_atom({}, a, set);
        for (int32_t a : action.del) delete_atom(action, op, {}, a, set);
        std::sort(op.effects.begin(), op.effects.end(),
                  [](const Effect &a, const Effect &b) { return a.fact < b.fact; });
        op.effects.erase(std::unique(op.effects.begin(), op.effects.end(),
                                     [](const Effect &a, const Effect &b) {
                                         return a.fact == b.fact && a.conditions == b.conditions;
                                     }),
                         op.effects.end());
    }
    /// What is added stays, whatever deletes it: the last of several effects on a variable wins, so deletes come first.
    void set_conditional_effects(const GroundAction &action, Operator &op) {
        auto set = [&](std::vector<Fact> conditions, Fact fact) { op.effects.push_back({std::move(conditions), fact}); };
        auto for_each_effect = [&](auto &&apply) {
            for (int32_t e : action.effects) {
                GroundRule effect = grounding_.effects[e];
                std::vector<Fact> conditions;
                if (facts(effect.pre, effect.neg, conditions)) apply(effect, conditions);
            }
        };
        for (int32_t a : action.del) delete_atom(action, op, {}, a, set);
        for_each_effect([&](const GroundRule &effect, const std::vector<Fact> &conditions) {
            for (int32_t a : effect.del)
                if (!std::binary_search(action.add.begin(), action.add.end(), a)) delete_atom(action, op, conditions, a, set);
        });
        for (int32_t a : action.add) add_atom({}, a, set);
        for_each_effect([&](const GroundRule &effect, const std::vector<Fact> &conditions) {
            for (int32_t a : effect.add) add_atom(conditions, a, set);
        });
    }
    template<class Set>
    void add_atom(const std::vector<Fact> &conditions, int32_t atom, Set &&set) {
        set(conditions, place_[atom]);
        if (mirror_[atom] >= 0) set(conditions, {mirror_[atom], 0});
    }
    template<class Set>
    void delete_atom(const GroundAction &action, const Operator &op, const std::vector<Fact> &conditions, int32_t atom, Set &&set) {
        if (mirror_[atom] >= 0) set(conditions, {mirror_[atom], 1});
        auto [variable, value] = place_[atom];
        bool replaced = std::any_of(action.add.begin(), action.add.end(),
                                    [&, v = variable](int32_t b) { return place_[b].variable == v; });
        int32_t before = required(op.preconditions, variable);
        if (replaced || (before >= 0 && before != value)) return;
        bool binary = out_->variables[variable].size() == 2;
        std::vector<Fact> needed = conditions;
        if (before != value && !binary) needed.push_back({variable, value});
        if (normalise(needed)) set(std::move(needed), {variable, binary ? 1 - value : none_[variable]});
    }
    void add_axiom(const GroundRule &axiom) {
        watch_.throw_if_expired();
        watch_.before_growth(out_->axioms);
        std::vector<Fact> conditions;
        if (facts(axiom.pre, axiom.neg, conditions)) out_->axioms.push_back({std::move(conditions), place_[axiom.add[0]]});
    }

    /// Keeps the variables from which the goal can be influenced, as Fast Downward does.
    void drop_irrelevant() {
        std::vector<char> relevant(out_->variables.size(), 0);
        std::vector<std::vector<int32_t>> setters(out_->variables.size());
        for (size_t o = 0; o < out_->operators.size(); ++o, watch_.throw_if_expired())
            for (const Effect &effect : out_->operators[o].effects)
                setters[effect.fact.variable].push_back(static_cast<int32_t>(o));
        std::vector<std::vector<int32_t>> rules(out_->variables.size());
        for (size_t i = 0; i < out_->axioms.size(); ++i) rules[out_->axioms[i].effect.variable].push_back(static_cast<int32_t>(i));
        std::vector<int32_t> stack;
        std::vector<char> seen(out_->operators.size(), 0);
        auto mark = [&](int32_t variable) {
            if (!relevant[variable]) relevant[variable] = 1, stack.push_back(variable);
        };
        for (const Fact &fact : out_->goal) mark(fact.variable);
        while (!stack.empty()) {
            watch_.throw_if_expired();
            int32_t variable = stack.back();
            stack.pop_back();
            for (int32_t i : rules[variable])
                for (const Fact &fact : out_->axioms[i].conditions) mark(fact.variable);
            for (int32_t o : setters[variable]) {
                const Operator &op = out_->operators[o];
                for (const Effect &effect : op.effects)
                    if (effect.fact.variable == variable)
                        for (const Fact &fact : effect.conditions) mark(fact.variable);
                if (seen[o]) continue;
                seen[o] = 1;
                for (const Fact &fact : op.preconditions) mark(fact.variable);
            }
        }
        std::vector<int32_t> renumbered(out_->variables.size(), -1);
        auto kept = std::make_shared<GroundTask>();
        kept->metric = out_->metric;
        for (size_t v = 0; v < relevant.size(); ++v) {
            if (!relevant[v]) continue;
            renumbered[v] = static_cast<int32_t>(kept->variables.size());
            kept->variables.push_back(std::move(out_->variables[v]));
            kept->variables.back().name = "var" + std::to_string(renumbered[v]);
            kept->initial.push_back(out_->initial[v]);
        }
        auto rename = [&](Fact &fact) { fact.variable = renumbered[fact.variable]; };
        kept->goal = out_->goal;
        for (Fact &fact : kept->goal) rename(fact);
        for (size_t o = 0; o < out_->operators.size(); ++o) {
            watch_.throw_if_expired();
            watch_.before_growth(kept->operators, kept->operator_tuples.values, kept->operator_tuples.begin);
            Operator &op = out_->operators[o];
            std::erase_if(op.effects, [&](const Effect &effect) { return !relevant[effect.fact.variable]; });
            if (op.effects.empty()) continue;
            for (Fact &fact : op.preconditions) rename(fact);
            for (Effect &effect : op.effects) {
                rename(effect.fact);
                for (Fact &fact : effect.conditions) rename(fact);
            }
            kept->operators.push_back(std::move(op));
            kept->operator_tuples.push(out_->operator_tuples[o]);
        }
        for (Axiom &axiom : out_->axioms) {
            if (!relevant[axiom.effect.variable]) continue;
            rename(axiom.effect);
            for (Fact &fact : axiom.conditions) rename(fact);
            kept->axioms.push_back(std::move(axiom));
        }
        for (Fact &fact : place_) fact.variable = renumbered[fact.variable];
        for (int32_t &variable : mirror_)
            if (variable >= 0) variable = renumbered[variable];
        for (size_t v = 0; v < relevant.size(); ++v)
            if (relevant[v]) kept->empty_values.push_back(std::max(none_[v], 0));
        out_ = kept;
    }
    /// Groups that are not simply the values of one variable.
    void add_mutex_groups() {
        for (const auto &group : groups_) {
            std::vector<Fact> facts;
            for (int32_t a : group)
                if (place_[a].variable >= 0) facts.push_back(place_[a]);
            std::sort(facts.begin(), facts.end());
            if (facts.size() > 1 && facts.front().variable != facts.back().variable)
                out_->mutex_groups.push_back(std::move(facts));
        }
    }

    void add_atom_facts() {
        for (size_t a = 0; a < place_.size(); ++a)
            if (place_[a].variable >= 0 || mirror_[a] >= 0)
                out_->atom_facts.push_back(
                    {grounding_.atoms[a].predicate, grounding_.atoms[a].args, place_[a], {mirror_[a], 0}});
    }

    const LiftedTask &task_;
    const Grounding &grounding_;
    Watch &watch_;
    std::vector<std::vector<int32_t>> groups_;
    std::vector<int32_t> layer_;    // atom -> its axiom layer, or -1
    std::vector<Fact> place_;       // atom -> its fact
    std::vector<int32_t> mirror_;   // atom -> variable that tells whether it is false, or -1
    std::vector<int32_t> none_;     // variable -> value "none of those", or -1
    std::vector<char> leaves_none_;
    bool contradictory_goal_ = false;
    std::shared_ptr<GroundTask> out_;
};

}  // namespace

std::shared_ptr<GroundTask> ground(std::shared_ptr<const LiftedTask> task, size_t max_actions, Watch &watch) {
    std::optional<Grounding> grounding = ground_actions(*task, max_actions, watch);
    if (!grounding) return nullptr;
    auto groups = mutex_groups(*task, *grounding, watch);
    auto result = FdrBuilder(*task, *grounding, std::move(groups), watch).run();
    result->lifted = std::move(task);
    return result;
}

}  // namespace gsp
