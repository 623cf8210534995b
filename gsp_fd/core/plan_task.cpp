#include "plan_task.h"

#include <algorithm>
#include <random>
#include <unordered_map>

#include "ground_space.h"
#include "grounder.h"
#include "lifted_space.h"

namespace gsp {

std::optional<Plan> PlanTask::plan(const std::vector<std::string> &names) {
    Plan plan;
    auto candidates = find(names);
    for (const auto &ops : candidates)
        for (int32_t op : ops) step(op);  // so that all variables are known
    Values values = initial();
    derive(values);
    for (const auto &ops : candidates) {
        auto applicable = std::find_if(ops.begin(), ops.end(), [&](int32_t op) { return hold(step(op).conditions, values); });
        if (applicable == ops.end()) return std::nullopt;
        plan.push_back(step(*applicable));
        apply(plan.back(), values);
    }
    return hold(goal(), values) ? std::optional(std::move(plan)) : std::nullopt;
}

void PlanTask::apply(const PlanStep &step, Values &values) {
    changes_.clear();
    for (const Effect &effect : step.effects)
        if (hold(effect.conditions, values)) changes_.push_back(effect.fact);
    for (const Fact &fact : changes_) values[fact.variable] = fact.value;
    derive(values);
}

namespace {

class GroundPlanTask final : public PlanTask {
public:
    explicit GroundPlanTask(std::shared_ptr<const GroundTask> task) : task_(std::move(task)), initial_(task_->initial) {
        task_->evaluate_axioms(initial_.data());
    }

    PlanStep step(int32_t op) override {
        const Operator &o = task_->operators[op];
        return {op, o.cost, o.preconditions, o.effects};
    }
    std::string name(int32_t op) const override { return task_->operator_name(op); }
    const Values &initial() const override { return initial_; }
    const std::vector<Fact> &goal() const override { return task_->goal; }
    bool has_axioms() const override { return task_->has_axioms(); }
    std::unique_ptr<StateSpace> new_space() const override { return std::make_unique<GroundSpace>(task_); }
    int32_t to_space(StateSpace &, int32_t op) const override { return op; }
    int32_t from_space(StateSpace &, int32_t op) override { return op; }

    std::optional<WindowTask> window(const Window &window, bool wide, uint64_t random, Watch &watch) override;

protected:
    std::vector<std::vector<int32_t>> find(const std::vector<std::string> &names) override {
        std::unordered_map<std::string, std::vector<int32_t>> wanted;
        for (const std::string &name : names) wanted[name];
        for (size_t op = 0; op < task_->operators.size(); ++op) {
            auto found = wanted.find(task_->operator_name(op));
            if (found != wanted.end()) found->second.push_back(static_cast<int32_t>(op));
        }
        std::vector<std::vector<int32_t>> out;
        for (const std::string &name : names) out.push_back(wanted[name]);
        return out;
    }
    void derive(Values &values) const override {
        if (task_->has_axioms()) task_->evaluate_axioms(values.data());
    }

private:
    static constexpr size_t max_operators = 5000;

    void index_operators() {
        if (setters_.size() > 0) return;
        Rows changed;
        std::vector<int32_t> row;
        for (const Operator &op : task_->operators) {
            row.clear();
            for (const Effect &effect : op.effects) row.push_back(effect.fact.variable);
            std::sort(row.begin(), row.end());
            row.erase(std::unique(row.begin(), row.end()), row.end());
            changed.push(row);
        }
        setters_ = changed.inverted(task_->variables.size());
    }
    /// The operator over the variables that may change; false if it changes others, or something constant forbids it.
    bool confine(Operator &op, const std::vector<int32_t> &number, const Values &values) const;

    std::shared_ptr<const GroundTask> task_;
    Values initial_;
    Rows setters_;  // variable -> operators that change it
};

bool GroundPlanTask::confine(Operator &op, const std::vector<int32_t> &number, const Values &values) const {
    auto keep_changing = [&](std::vector<Fact> &facts) {
        bool possible = true;
        std::erase_if(facts, [&](Fact &fact) {
            if (number[fact.variable] >= 0) return fact.variable = number[fact.variable], false;
            possible = possible && values[fact.variable] == fact.value;
            return true;
        });
        return possible;
    };
    if (!keep_changing(op.preconditions)) return false;
    for (Effect &effect : op.effects) {
        if (number[effect.fact.variable] < 0) return false;
        effect.fact.variable = number[effect.fact.variable];
    }
    std::erase_if(op.effects, [&](Effect &effect) { return !keep_changing(effect.conditions); });
    std::sort(op.preconditions.begin(), op.preconditions.end());
    return !op.effects.empty();
}

std::optional<WindowTask> GroundPlanTask::window(const Window &window, bool wide, uint64_t random, Watch &watch) {
    if (task_->has_axioms()) return std::nullopt;
    index_operators();
    std::vector<int32_t> changing;
    for (const PlanStep &step : window.steps) {
        for (const Effect &effect : step.effects) changing.push_back(effect.fact.variable);
        if (wide)
            for (const Fact &fact : step.conditions) changing.push_back(fact.variable);
    }
    if (wide) changing.push_back(static_cast<int32_t>(random % task_->variables.size()));
    std::sort(changing.begin(), changing.end());
    changing.erase(std::unique(changing.begin(), changing.end()), changing.end());
    std::vector<int32_t> number(task_->variables.size(), -1), candidates;
    auto result = std::make_shared<GroundTask>();
    result->metric = task_->metric;
    for (int32_t v : changing) {
        number[v] = static_cast<int32_t>(result->variables.size());
        result->variables.push_back(task_->variables[v]);
        result->initial.push_back(window.before[v]);
        candidates.insert(candidates.end(), setters_[v].begin(), setters_[v].end());
    }
    for (Fact fact : window.needed)
        if (number[fact.variable] >= 0) result->goal.push_back({number[fact.variable], fact.value});
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    WindowTask out;
    for (int32_t candidate : candidates) {
        Operator op = task_->operators[candidate];
        if (!confine(op, number, window.before)) continue;
        result->operators.push_back(std::move(op));
        result->add_name({});
        out.ops.push_back(candidate);
        if (out.ops.size() > max_operators) return std::nullopt;
    }
    result->finish(&watch);
    out.task = std::move(result);
    return out;
}

class LiftedPlanTask final : public PlanTask {
public:
    explicit LiftedPlanTask(std::shared_ptr<const LiftedTask> task);

    PlanStep step(int32_t op) override;
    std::string name(int32_t op) const override { return task_->action_name(actions_.args(op), actions_.count(op)); }
    const Values &initial() const override { return initial_; }
    const std::vector<Fact> &goal() const override { return goal_; }
    std::unique_ptr<StateSpace> new_space() const override { return std::make_unique<LiftedSpace>(task_, false); }
    int32_t to_space(StateSpace &space, int32_t op) const override {
        return static_cast<LiftedSpace &>(space).insert_action({actions_.args(op), actions_.count(op)});
    }
    int32_t from_space(StateSpace &space, int32_t op) override {
        auto tuple = static_cast<LiftedSpace &>(space).action(op);
        return actions_.intern(0, tuple.data(), tuple.size());
    }
    std::optional<WindowTask> window(const Window &window, bool wide, uint64_t random, Watch &watch) override;

protected:
    std::vector<std::vector<int32_t>> find(const std::vector<std::string> &names) override;

private:
    static constexpr size_t max_actions = 3000, max_near = 24;

    int32_t variable(int32_t predicate, const int32_t *args) {
        int32_t atom = atoms_.intern(predicate, args, task_->arities[predicate]);
        if (static_cast<size_t>(atom) >= initial_.size()) initial_.push_back(0);
        return atom;
    }
    std::vector<int32_t> objects_of(const Window &window) const;
    void add_near(std::vector<int32_t> &objects, uint64_t random) const;
    std::shared_ptr<LiftedTask> restricted(const std::vector<int32_t> &objects, const Window &window) const;

    std::shared_ptr<const LiftedTask> task_;
    TupleTable atoms_;    // fluent ones: the variables
    TupleTable actions_;  // symbol 0, tuple (schema, objects...)
    Values initial_;
    std::vector<Fact> goal_;
    std::vector<int32_t> constants_;                 // objects that schemas name
    std::vector<GroundAtom> statics_;
    Rows statics_of_, statics_from_;                 // object -> static atoms that mention it, that begin with it
    std::unordered_map<std::string, int32_t> object_numbers_;
};

LiftedPlanTask::LiftedPlanTask(std::shared_ptr<const LiftedTask> task) : task_(std::move(task)) {
    Rows mentions, first;
    for (const GroundAtom &atom : task_->init) {
        if (task_->fluent[atom.predicate]) {
            initial_[variable(atom.predicate, atom.args.data())] = 1;
        } else {
            statics_.push_back(atom);
            std::vector<int32_t> args = atom.args;
            first.push(std::span(args.data(), std::min<size_t>(args.size(), 1)));
            std::sort(args.begin(), args.end());
            args.erase(std::unique(args.begin(), args.end()), args.end());
            mentions.push(args);
        }
    }
    statics_of_ = mentions.inverted(task_->objects.size());
    statics_from_ = first.inverted(task_->objects.size());
    for (const GroundAtom &atom : task_->goal_positive)
        if (task_->fluent[atom.predicate]) goal_.push_back({variable(atom.predicate, atom.args.data()), 1});
    for (const GroundAtom &atom : task_->goal_negative)
        if (task_->fluent[atom.predicate]) goal_.push_back({variable(atom.predicate, atom.args.data()), 0});
    auto name_constants = [&](const std::vector<int32_t> &terms) {
        for (int32_t term : terms)
            if (term < 0) constants_.push_back(-term - 1);
    };
    for (const Schema &schema : task_->schemas) {
        for (const auto *part : {&schema.positive, &schema.negative, &schema.add, &schema.del, &schema.cost_terms})
            for (const Literal &literal : *part) name_constants(literal.args);
        for (const auto *part : {&schema.equal, &schema.unequal})
            for (auto [a, b] : *part) name_constants({a, b});
    }
    for (size_t o = 0; o < task_->objects.size(); ++o) object_numbers_[task_->objects[o]] = static_cast<int32_t>(o);
}

PlanStep LiftedPlanTask::step(int32_t op) {
    const int32_t *tuple = actions_.args(op);
    const Schema &schema = task_->schemas[tuple[0]];
    int32_t args[LiftedTask::max_parameters];
    PlanStep out{op, task_->cost(schema, tuple + 1), {}, {}};
    auto fact = [&](const Literal &literal, int32_t value) -> Fact {
        for (size_t i = 0; i < literal.args.size(); ++i) args[i] = ground_term(literal.args[i], tuple + 1);
        return {variable(literal.predicate, args), value};
    };
    auto require = [&](const std::vector<Literal> &literals, int32_t value) {
        for (const Literal &literal : literals)
            if (task_->fluent[literal.predicate]) out.conditions.push_back(fact(literal, value));
    };
    require(schema.positive, 1);
    require(schema.negative, 0);
    for (const Literal &literal : schema.add) out.effects.push_back({{}, fact(literal, 1)});
    const size_t added = out.effects.size();
    for (const Literal &literal : schema.del) {
        Fact gone = fact(literal, 0);
        if (std::none_of(out.effects.begin(), out.effects.begin() + static_cast<std::ptrdiff_t>(added),
                         [&](const Effect &effect) { return effect.fact.variable == gone.variable; }))
            out.effects.push_back({{}, gone});
    }
    return out;
}

std::vector<std::vector<int32_t>> LiftedPlanTask::find(const std::vector<std::string> &names) {
    std::unordered_map<std::string, std::vector<int32_t>> schemas;
    for (size_t s = 0; s < task_->schemas.size(); ++s) schemas[task_->schemas[s].name].push_back(static_cast<int32_t>(s));
    std::vector<std::vector<int32_t>> out;
    for (const std::string &name : names) {
        std::vector<int32_t> tuple{-1};
        size_t end = std::min(name.find(' '), name.size());
        auto candidates = schemas.find(name.substr(0, end));
        bool known = candidates != schemas.end();
        while (end < name.size() && known) {
            size_t begin = end + 1;
            end = std::min(name.find(' ', begin), name.size());
            auto object = object_numbers_.find(name.substr(begin, end - begin));
            known = object != object_numbers_.end();
            if (known) tuple.push_back(object->second);
        }
        auto &ops = out.emplace_back();
        if (!known) continue;
        for (int32_t schema : candidates->second) {
            tuple[0] = schema;
            if (task_->schemas[schema].parameters.size() + 1 == tuple.size())
                ops.push_back(actions_.intern(0, tuple.data(), tuple.size()));
        }
    }
    return out;
}

std::vector<int32_t> LiftedPlanTask::objects_of(const Window &window) const {
    std::vector<int32_t> objects = constants_;
    for (const PlanStep &step : window.steps)
        objects.insert(objects.end(), actions_.args(step.op) + 1, actions_.args(step.op) + actions_.count(step.op));
    std::sort(objects.begin(), objects.end());
    objects.erase(std::unique(objects.begin(), objects.end()), objects.end());
    return objects;
}

/// Some of the objects that static atoms connect with the given ones.
void LiftedPlanTask::add_near(std::vector<int32_t> &objects, uint64_t random) const {
    std::vector<int32_t> near;
    for (int32_t object : objects)
        for (int32_t atom : statics_of_[object])
            for (int32_t other : statics_[atom].args)
                if (!std::binary_search(objects.begin(), objects.end(), other)) near.push_back(other);
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    if (near.size() > max_near) {
        std::shuffle(near.begin(), near.end(), std::mt19937_64(random));
        near.resize(max_near);
    }
    objects.insert(objects.end(), near.begin(), near.end());
    std::sort(objects.begin(), objects.end());
}

/// The task of some objects, which keep their order, so that tables sorted by objects stay sorted.
std::shared_ptr<LiftedTask> LiftedPlanTask::restricted(const std::vector<int32_t> &objects, const Window &window) const {
    std::vector<int32_t> number(task_->objects.size(), -1);
    auto out = std::make_shared<LiftedTask>();
    for (int32_t object : objects) {
        number[object] = static_cast<int32_t>(out->objects.size());
        out->objects.push_back(task_->objects[object]);
    }
    auto translate = [&](const int32_t *args, size_t count) -> std::optional<std::vector<int32_t>> {
        if (std::any_of(args, args + count, [&](int32_t object) { return number[object] < 0; })) return std::nullopt;
        std::vector<int32_t> translated(count);
        std::transform(args, args + count, translated.begin(), [&](int32_t object) { return number[object]; });
        return translated;
    };
    for (const auto &members : task_->type_members) {
        auto &kept = out->type_members.emplace_back();
        for (int32_t object : objects)
            if (task_->is_member[&members - task_->type_members.data()][object]) kept.push_back(number[object]);
    }
    out->predicates = task_->predicates;
    out->arities = task_->arities;
    out->fluent = task_->fluent;
    out->metric = task_->metric;
    out->schemas = task_->schemas;
    auto rename = [&](int32_t &term) {
        if (term < 0) term = -number[-term - 1] - 1;
    };
    for (Schema &schema : out->schemas) {
        for (auto *part : {&schema.positive, &schema.negative, &schema.add, &schema.del, &schema.cost_terms})
            for (Literal &literal : *part) std::for_each(literal.args.begin(), literal.args.end(), rename);
        for (auto *part : {&schema.equal, &schema.unequal})
            for (auto &[a, b] : *part) rename(a), rename(b);
    }
    auto add = [&](std::vector<GroundAtom> &atoms, int32_t predicate, const int32_t *args) {
        if (auto translated = translate(args, task_->arities[predicate])) atoms.push_back({predicate, std::move(*translated)});
    };
    for (const GroundAtom &atom : statics_)
        if (atom.args.empty()) out->init.push_back(atom);
    for (int32_t object : objects)
        for (int32_t atom : statics_from_[object]) add(out->init, statics_[atom].predicate, statics_[atom].args.data());
    for (size_t atom = 0; atom < window.before.size(); ++atom)
        if (window.before[atom] != 0) add(out->init, atoms_.symbol(atom), atoms_.args(atom));
    for (const Fact &fact : window.needed)
        add(fact.value != 0 ? out->goal_positive : out->goal_negative, atoms_.symbol(fact.variable), atoms_.args(fact.variable));
    for (const auto &table : task_->function_values) {
        auto &kept = out->function_values.emplace_back();
        for (const auto &[args, value] : table)
            if (auto translated = translate(args.data(), args.size())) kept.emplace_back(std::move(*translated), value);
        // The number of arguments is read from the first entry; this one is nobody's.
        if (kept.empty() && !table.empty()) kept.emplace_back(std::vector<int32_t>(table[0].first.size(), -1), table[0].second);
    }
    out->finish();
    return out;
}

std::optional<WindowTask> LiftedPlanTask::window(const Window &window, bool wide, uint64_t random, Watch &watch) {
    std::vector<int32_t> objects = objects_of(window);
    if (wide) add_near(objects, random);
    auto lifted = restricted(objects, window);
    WindowTask out;
    auto task = ground(lifted, max_actions, watch);
    if (!task) return std::nullopt;
    std::vector<int32_t> tuple;
    for (size_t op = 0; op < task->operators.size(); ++op) {
        auto row = task->operator_tuples[op];
        tuple.assign(row.begin(), row.end());
        for (size_t i = 1; i < tuple.size(); ++i) tuple[i] = objects[tuple[i]];
        out.ops.push_back(actions_.intern(0, tuple.data(), tuple.size()));
    }
    out.task = std::move(task);
    return out;
}

}  // namespace

std::unique_ptr<PlanTask> make_plan_task(std::shared_ptr<const GroundTask> task) {
    return std::make_unique<GroundPlanTask>(std::move(task));
}

std::unique_ptr<PlanTask> make_plan_task(std::shared_ptr<const LiftedTask> task) {
    return std::make_unique<LiftedPlanTask>(std::move(task));
}

}  // namespace gsp
