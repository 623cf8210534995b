#include "axiom_layers.h"

#include <algorithm>

#include "reachability.h"
#include "rule_program.h"

namespace gsp {
namespace {

bool contains(const std::vector<int32_t> &sorted, int32_t value) {
    return std::binary_search(sorted.begin(), sorted.end(), value);
}

void sort_unique(std::vector<int32_t> &values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Turns instances of rules into ground actions and axioms over the atoms that matter: reached, and not true for ever.
class Instantiation {
public:
    /// instances: (rule, values of its parameters).
    Instantiation(const LiftedTask &task, const RuleProgram &program, Reachability &reachability, const Rows &instances,
                  Watch &watch)
        : task_(task), program_(program), watch_(watch), database_(reachability.database()), instances_(instances),
          state_(database_.atoms().size(), never) {
        for (int32_t atom : reachability.reached()) state_[atom] = always;  // until something deletes it
        for (const GroundAtom &atom : task.init)
            if (task.fluent[atom.predicate]) initial_.push_back(database_.intern(atom.predicate, atom.args.data()));
        sort_unique(initial_);
    }

    Grounding run(const std::vector<int32_t> &reached) {
        std::vector<char> in_init(state_.size(), 0);
        for (int32_t atom : initial_) in_init[atom] = 1;
        for (int32_t atom : reached)
            if (!in_init[atom]) state_[atom] = changes;
        mark_deleted();
        Grounding out;
        number_.assign(state_.size(), -1);
        for (int32_t atom : reached) {
            int32_t predicate = database_.atoms().symbol(atom);
            if (state_[atom] != changes || static_cast<size_t>(predicate) >= task_.predicates.size()) continue;
            number_[atom] = static_cast<int32_t>(out.atoms.size());
            const int32_t *args = database_.atoms().args(atom);
            out.atoms.push_back({predicate, {args, args + task_.arities[predicate]}});
            if (in_init[atom]) out.init.push_back(number_[atom]);
        }
        if (!task_.strips) collect_effects();
        for (size_t i = 0; i < instances_.size(); ++i) {
            watch_.throw_if_expired();
            RuleSource::Kind kind = origin(i).kind;
            if (kind == RuleSource::action) instantiate_action(i, out);
            if (kind == RuleSource::axiom) instantiate_axiom(i, out);
        }
        set_goal(out);
        return out;
    }

private:
    enum : char { never, always, changes };

    const RuleSource &origin(size_t instance) const { return program_.origin(instances_[instance][0]); }
    const int32_t *binding(size_t instance) const { return instances_[instance].data() + 1; }
    int32_t atom(const Literal &literal, const int32_t *binding) {
        int32_t args[LiftedTask::max_parameters];
        for (size_t i = 0; i < literal.args.size(); ++i) args[i] = ground_term(literal.args[i], binding);
        return database_.atoms().find(literal.predicate, args, literal.args.size());
    }
    void mark_deleted() {
        std::vector<int32_t> added;
        for (size_t i = 0; i < instances_.size(); ++i) {
            watch_.throw_if_expired();
            const RuleSource &from = origin(i);
            if (from.kind == RuleSource::axiom) continue;
            const Schema &schema = task_.schemas[from.schema];
            added.clear();
            for (const Literal &literal : schema.add) added.push_back(atom(literal, binding(i)));
            for (const Literal &literal : from.kind == RuleSource::effect ? from.rule->del : schema.del) {
                int32_t id = atom(literal, binding(i));
                if (id >= 0 && state_[id] == always && std::find(added.begin(), added.end(), id) == added.end())
                    state_[id] = changes;
            }
        }
    }
    std::span<const int32_t> action_args(size_t instance) const {
        return {binding(instance), task_.schemas[origin(instance).schema].parameters.size()};
    }
    void collect_effects() {
        for (size_t i = 0; i < instances_.size(); ++i) {
            if (origin(i).kind != RuleSource::effect) continue;
            auto args = action_args(i);
            auto action = static_cast<size_t>(actions_.intern(origin(i).schema, args.data(), args.size()));
            if (action >= effects_of_.size()) effects_of_.resize(action + 1);
            effects_of_[action].push_back(static_cast<int32_t>(i));
        }
    }

    struct Buffers {
        std::vector<int32_t> pre, neg, add, del;
        void clear() {
            for (auto *part : {&pre, &neg, &add, &del}) part->clear();
        }
    };
    /// The conditions of a rule; false if they can never hold.
    bool ground_conditions(const Rule &rule, const int32_t *binding, Buffers &out) {
        for (const Literal &literal : rule.positive) {
            if (!task_.fluent[literal.predicate]) continue;
            int32_t id = atom(literal, binding);
            if (state_[id] == changes) out.pre.push_back(number_[id]);
        }
        for (const Literal &literal : rule.negative) {
            if (!task_.fluent[literal.predicate]) continue;
            int32_t id = atom(literal, binding);
            if (id < 0 || state_[id] == never) continue;
            if (state_[id] == always) return false;
            out.neg.push_back(number_[id]);
        }
        sort_unique(out.pre);
        sort_unique(out.neg);
        return std::none_of(out.neg.begin(), out.neg.end(), [&](int32_t a) { return contains(out.pre, a); });
    }
    void ground_effects(const Rule &rule, const int32_t *binding, Buffers &out) {
        for (const Literal &literal : rule.add)
            if (int32_t id = atom(literal, binding); state_[id] == changes) out.add.push_back(number_[id]);
        for (const Literal &literal : rule.del) {
            int32_t id = atom(literal, binding);
            if (id >= 0 && state_[id] == changes) out.del.push_back(number_[id]);
        }
    }
    static void normalise_effects(Buffers &rule) {
        sort_unique(rule.add);
        sort_unique(rule.del);
        std::erase_if(rule.del, [&](int32_t a) { return contains(rule.add, a); });
    }
    void instantiate_action(size_t instance, Grounding &out) {
        const Schema &schema = task_.schemas[origin(instance).schema];
        action_.clear();
        effects_.clear();
        if (!ground_conditions(*origin(instance).rule, binding(instance), action_)) return;
        ground_effects(schema, binding(instance), action_);
        out.before_growth(watch_);
        if (!schema.conditional.empty()) add_conditional(instance, out);
        normalise_effects(action_);
        tuple_.assign(1, origin(instance).schema);
        auto args = action_args(instance);
        tuple_.insert(tuple_.end(), args.begin(), args.end());
        out.add_action({action_.pre, action_.neg, action_.add, action_.del, tuple_, task_.cost(schema, args.data()), effects_});
    }
    /// Conditional effects of an action; those whose conditions are among the preconditions are not conditional.
    void add_conditional(size_t instance, Grounding &out) {
        auto args = action_args(instance);
        int32_t action = actions_.find(origin(instance).schema, args.data(), args.size());
        if (action < 0) return;
        for (int32_t i : effects_of_[action]) {
            watch_.throw_if_expired();
            effect_.clear();
            if (!ground_conditions(*origin(i).rule, binding(i), effect_)) continue;
            auto in = [](const std::vector<int32_t> &set) { return [&set](int32_t a) { return contains(set, a); }; };
            if (std::any_of(effect_.pre.begin(), effect_.pre.end(), in(action_.neg)) ||
                std::any_of(effect_.neg.begin(), effect_.neg.end(), in(action_.pre)))
                continue;
            std::erase_if(effect_.pre, in(action_.pre));
            std::erase_if(effect_.neg, in(action_.neg));
            bool conditional = !effect_.pre.empty() || !effect_.neg.empty();
            ground_effects(*origin(i).rule, binding(i), conditional ? effect_ : action_);
            if (!conditional) continue;
            normalise_effects(effect_);
            out.before_growth(watch_);
            effects_.push_back(static_cast<int32_t>(out.effects.size()));
            out.effects.push({effect_.pre, effect_.neg, effect_.add, effect_.del});
        }
    }
    void instantiate_axiom(size_t instance, Grounding &out) {
        action_.clear();
        if (!ground_conditions(*origin(instance).rule, binding(instance), action_)) return;
        ground_effects(*origin(instance).rule, binding(instance), action_);
        out.before_growth(watch_);
        out.axioms.push({action_.pre, action_.neg, action_.add, {}});
    }
    void set_goal(Grounding &out) {
        auto find = [&](const GroundAtom &goal) {
            return database_.atoms().find(goal.predicate, goal.args.data(), goal.args.size());
        };
        for (const GroundAtom &goal : task_.goal_positive) {
            int32_t id = find(goal);
            if (!task_.fluent[goal.predicate]) out.solvable = out.solvable && id >= 0 && database_.holds(id);
            else if (id < 0 || state_[id] == never) out.solvable = false;
            else if (state_[id] == changes) out.goal_positive.push_back(number_[id]);
        }
        for (const GroundAtom &goal : task_.goal_negative) {
            int32_t id = find(goal);
            if (!task_.fluent[goal.predicate]) out.solvable = out.solvable && !(id >= 0 && database_.holds(id));
            else if (id >= 0 && state_[id] == always) out.solvable = false;
            else if (id >= 0 && state_[id] == changes) out.goal_negative.push_back(number_[id]);
        }
        sort_unique(out.goal_positive);
        sort_unique(out.goal_negative);
        for (int32_t a : out.goal_negative)
            if (contains(out.goal_positive, a)) out.solvable = false;
    }

    const LiftedTask &task_;
    const RuleProgram &program_;
    Watch &watch_;
    Database &database_;
    const Rows &instances_;
    std::vector<char> state_;
    std::vector<int32_t> initial_, number_;
    TupleTable actions_;                           // those with conditional effects: schema, objects
    std::vector<std::vector<int32_t>> effects_of_;  // instances of their effects
    Buffers action_, effect_;
    std::vector<int32_t> effects_, tuple_;
};

}  // namespace

std::optional<Grounding> ground_actions(const LiftedTask &task, size_t max_actions, Watch &watch) {
    RuleProgram program(task);
    Reachability reachability(program.task(), watch);
    Rows instances;
    struct TooMany {};
    try {
        reachability.run([&](size_t rule, const int32_t *binding) {
            if (instances.size() == max_actions) throw TooMany();
            watch.before_growth(instances.values, instances.begin);
            instances.values.push_back(static_cast<int32_t>(rule));
            instances.values.insert(instances.values.end(), binding, binding + program.task().schemas[rule].parameters.size());
            instances.close();
        });
    } catch (const TooMany &) {
        return std::nullopt;
    }
    Grounding grounding = Instantiation(task, program, reachability, instances, watch).run(reachability.reached());
    if (!task.stratified) settle_axioms(task, grounding);
    return grounding;
}

}  // namespace gsp
