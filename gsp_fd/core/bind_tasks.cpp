// Tasks and state spaces in Python.
#include "bindings.h"

#include "axiom_layers.h"
#include "ground_space.h"
#include "lifted_space.h"

namespace gsp {
namespace {

// ---- lifted tasks, from the dataclasses of gsp_fd.pddl.lifted

std::vector<int32_t> ints(nb::handle sequence) {
    std::vector<int32_t> out;
    for (nb::handle item : sequence) out.push_back(nb::cast<int32_t>(item));
    return out;
}

std::vector<Literal> literals(nb::handle sequence) {
    std::vector<Literal> out;
    for (nb::handle item : sequence) out.push_back({nb::cast<int32_t>(item.attr("predicate")), ints(item.attr("args"))});
    return out;
}

std::vector<std::pair<int32_t, int32_t>> pairs(nb::handle sequence) {
    std::vector<std::pair<int32_t, int32_t>> out;
    for (nb::handle item : sequence) out.emplace_back(nb::cast<int32_t>(item[0]), nb::cast<int32_t>(item[1]));
    return out;
}

/// Pairs (symbol, arguments).
template<class T>
std::vector<T> atoms(nb::handle sequence) {
    std::vector<T> out;
    for (nb::handle item : sequence) out.push_back({nb::cast<int32_t>(item[0]), ints(item[1])});
    return out;
}

void fill_rule(Rule &rule, nb::handle source) {
    rule.parameters = ints(source.attr("parameters"));
    rule.positive = literals(source.attr("positive"));
    rule.negative = literals(source.attr("negative"));
    rule.equal = pairs(source.attr("equal"));
    rule.unequal = pairs(source.attr("unequal"));
    rule.add = literals(source.attr("add"));
    rule.del = literals(source.attr("delete"));
}

std::vector<Rule> rules(nb::handle sequence) {
    std::vector<Rule> out;
    for (nb::handle item : sequence) fill_rule(out.emplace_back(), item);
    return out;
}

Schema schema_from(nb::handle source) {
    Schema schema;
    schema.name = nb::cast<std::string>(source.attr("name"));
    fill_rule(schema, source);
    schema.alternatives = rules(source.attr("alternatives"));
    schema.conditional = rules(source.attr("conditional"));
    schema.cost = nb::cast<int32_t>(source.attr("cost"));
    schema.cost_terms = atoms<Literal>(source.attr("cost_terms"));
    return schema;
}

std::shared_ptr<LiftedTask> lifted_from(nb::handle source) {
    auto task = std::make_shared<LiftedTask>();
    task->objects = nb::cast<std::vector<std::string>>(nb::list(source.attr("objects")));
    for (nb::handle members : source.attr("type_members")) task->type_members.push_back(ints(members));
    task->predicates = nb::cast<std::vector<std::string>>(nb::list(source.attr("predicates")));
    task->arities = ints(source.attr("arities"));
    for (nb::handle flag : source.attr("fluent")) task->fluent.push_back(nb::cast<bool>(flag));
    for (nb::handle schema : source.attr("schemas")) task->schemas.push_back(schema_from(schema));
    for (nb::handle stratum : source.attr("axioms")) task->axioms.push_back(rules(stratum));
    task->init = atoms<GroundAtom>(source.attr("init"));
    task->goal_positive = atoms<GroundAtom>(source.attr("goal_positive"));
    task->goal_negative = atoms<GroundAtom>(source.attr("goal_negative"));
    for (nb::handle table : source.attr("function_values")) {
        auto &values = task->function_values.emplace_back();
        for (nb::handle item : nb::cast<nb::dict>(table).items()) values.emplace_back(ints(item[0]), nb::cast<int32_t>(item[1]));
    }
    task->metric = nb::cast<bool>(source.attr("use_costs"));
    task->finish();
    return task;
}

/// Predicates of ground atoms that depend on each other and on the negation of one of them; none if there are none.
std::vector<int32_t> circle_through_negation(const LiftedTask &task, Watch &watch) {
    if (task.stratified) return {};
    auto grounding = ground_actions(task, SIZE_MAX, watch);
    if (!grounding->solvable) return {};
    try {
        axiom_layers(task, *grounding, watch);
    } catch (const NotStratified &error) {
        return error.predicates;
    }
    return {};
}

std::vector<int32_t> applicable(StateSpace &space, int32_t state) {
    std::vector<int32_t> out;
    space.load(state);
    space.applicable(out);
    return out;
}

}  // namespace

void bind_tasks(nb::module_ &m) {
    nb::class_<GroundTask>(m, "GroundTask", "A ground task in finite-domain form.")
        .def_static("from_sas", [](nb::bytes text) { return GroundTask::from_sas({text.c_str(), text.size()}); }, "text"_a,
                    "Reads a SAS version 3 file; raises InputError(message, line).")
        .def("to_sas", [](const GroundTask &task) {
            std::string text = task.to_sas();
            return nb::bytes(text.data(), text.size());
        })
        .def("__getstate__", [](const GroundTask &task) {
            std::string text = task.to_sas();
            return nb::make_tuple(nb::bytes(text.data(), text.size()));
        })
        .def("__setstate__", [](GroundTask &task, std::tuple<nb::bytes> state) {
            const nb::bytes &text = std::get<0>(state);
            new (&task) GroundTask(std::move(*GroundTask::from_sas({text.c_str(), text.size()})));
        })
        .def_prop_ro("num_variables", [](const GroundTask &t) { return t.variables.size(); })
        .def_prop_ro("num_derived_variables", &GroundTask::num_derived)
        .def_prop_ro("num_facts", &GroundTask::num_facts)
        .def_prop_ro("num_goals", [](const GroundTask &t) { return t.goal.size(); })
        .def_prop_ro("num_mutex_groups", [](const GroundTask &t) { return t.mutex_groups.size(); })
        .def_prop_ro("mutex_groups_size", [](const GroundTask &t) {
            size_t total = 0;
            for (const auto &group : t.mutex_groups) total += group.size();
            return total;
        })
        .def_prop_ro("num_operators", [](const GroundTask &t) { return t.operators.size(); })
        .def_prop_ro("num_axioms", [](const GroundTask &t) { return t.axioms.size(); })
        .def_prop_ro("unit_cost", [](const GroundTask &t) { return t.unit_cost; })
        .def_prop_ro("encoding_size", [](const GroundTask &t) {
            size_t size = 0;
            for (const Variable &v : t.variables) size += 1 + v.value_names.size();
            for (const auto &group : t.mutex_groups) size += group.size();
            size += t.goal.size();
            for (const Operator &op : t.operators) {
                size += 1 + op.preconditions.size();
                for (const Effect &effect : op.effects) size += 1 + effect.conditions.size();
            }
            for (const Axiom &axiom : t.axioms) size += 1 + axiom.conditions.size();
            return size;
        })
        .def("operator_name", [](const GroundTask &t, size_t i) {
            if (i >= t.operators.size()) throw nb::index_error("no such operator");
            return to_str(t.operator_name(i));
        });

    m.attr("SMALL_GROUNDING") = small_grounding;
    nb::class_<LiftedTask>(m, "LiftedTask", "A lifted task, made from gsp_fd.pddl.LiftedTask.")
        .def_static("from_spec", [](nb::object spec) { return lifted_from(spec); }, "spec"_a)
        .def_ro("strips", &LiftedTask::strips, "Whether it has no disjunctions, conditional effects or derived predicates.")
        .def_ro("conditional", &LiftedTask::conditional, "Whether some action has conditional effects.")
        .def("circle_through_negation", [](const LiftedTask &task, std::optional<double> max_time,
                                           std::optional<size_t> max_memory_kb) {
            Watch watch = make_watch(max_time, max_memory_kb);
            nb::gil_scoped_release release;
            return circle_through_negation(task, watch);
        }, "max_time"_a = nb::none(), "max_memory_kb"_a = nb::none(),
             "Predicates of ground atoms that depend on their own negation, if there are any; raises Stopped at a limit.")
        .def("ground", [](std::shared_ptr<const LiftedTask> task, std::optional<double> max_time, std::optional<size_t> max_memory_kb,
                          nb::object progress) {
            Watch watch = make_watch(max_time, max_memory_kb, progress);
            nb::gil_scoped_release release;
            return ground(std::move(task), SIZE_MAX, watch);
        }, "max_time"_a = nb::none(), "max_memory_kb"_a = nb::none(), "progress"_a.none() = nb::none(),
             "The ground task; raises Stopped at a limit.")
        .def("ground_up_to", [](std::shared_ptr<const LiftedTask> task, size_t max_actions, std::optional<double> max_time,
                                std::optional<size_t> max_memory_kb,
                                nb::object progress) -> std::optional<std::shared_ptr<GroundTask>> {
            Watch watch = make_watch(max_time, max_memory_kb, progress);
            nb::gil_scoped_release release;
            auto result = ground(std::move(task), max_actions, watch);
            return result ? std::optional(std::move(result)) : std::nullopt;
        }, "max_actions"_a, "max_time"_a = nb::none(), "max_memory_kb"_a = nb::none(), "progress"_a.none() = nb::none(),
             "The ground task, or None if it has more actions; raises Stopped at a limit.");
}

void bind_spaces(nb::module_ &m) {
    nb::class_<StateSpace>(m, "StateSpace", "Numbered states and operators of a task.")
        .def("initial_state", &StateSpace::initial_state)
        .def("is_goal", [](StateSpace &s, int32_t state) { check_state(s, state); s.load(state); return s.is_goal(); })
        .def("applicable", [](StateSpace &s, int32_t state) { check_state(s, state); return applicable(s, state); },
             "state"_a, "Operators applicable in a state.")
        .def("apply", [](StateSpace &s, int32_t state, int32_t op) {
            check_state(s, state);
            auto operators = applicable(s, state);
            if (std::find(operators.begin(), operators.end(), op) == operators.end())
                throw nb::value_error("the operator is not applicable in this state");
            return s.apply(op);
        }, "state"_a, "op"_a, "The state that an applicable operator leads to.")
        .def("expand", [](StateSpace &s, int32_t state) {
            check_state(s, state);
            auto operators = applicable(s, state);
            std::vector<int32_t> successors;
            for (int32_t op : operators) successors.push_back(s.apply(op));
            return nb::make_tuple(to_numpy(std::move(operators)), to_numpy(std::move(successors)));
        }, "state"_a, "Applicable operators and the states they lead to, as two arrays.")
        .def("cost", [](const StateSpace &s, int32_t op) { check_operator(s, op); return s.cost(op); })
        .def("operator_name", [](const StateSpace &s, int32_t op) { check_operator(s, op); return to_str(s.operator_name(op)); })
        .def_prop_ro("num_states", &StateSpace::num_states)
        .def_prop_ro("unit_cost", &StateSpace::unit_cost);

    nb::class_<GroundSpace, StateSpace>(m, "GroundSpace", "Packed states of a ground task.")
        .def(nb::init<std::shared_ptr<const GroundTask>>(), "task"_a)
        .def("export_state", [](GroundSpace &s, int32_t state) {
            check_state(s, state);
            std::vector<int32_t> values(s.task().variables.size());
            s.unpack(state, values.data());
            return to_numpy(std::move(values));
        }, "state"_a, "Values of all variables, as an array that can be pickled.")
        .def("import_state", [](GroundSpace &s, IntArray values) {
            const GroundTask &task = s.task();
            if (values.size() != task.variables.size()) throw nb::value_error("one value per variable is needed");
            for (size_t v = 0; v < values.size(); ++v)
                if (values.data()[v] < 0 || values.data()[v] >= task.variables[v].size()) throw nb::value_error("value out of range");
            return s.insert(values.data());
        }, "values"_a);

    nb::class_<LiftedSpace, StateSpace>(m, "LiftedSpace", "States of a lifted task as sets of atoms.")
        .def(nb::init<std::shared_ptr<const LiftedTask>, bool, bool>(), "task"_a, "symmetry"_a = false, "relevant_only"_a = false)
        .def_prop_ro("generated_actions", &LiftedSpace::generated_actions)
        .def_prop_ro("represented_actions", &LiftedSpace::represented_actions)
        .def("action", [](LiftedSpace &s, int32_t op) {
            check_operator(s, op);
            auto tuple = s.action(op);
            return std::vector<int32_t>(tuple.begin(), tuple.end());
        }, "op"_a, "(schema, objects...) of an operator.")
        .def("export_state", [](LiftedSpace &s, int32_t state) {
            check_state(s, state);
            std::vector<int32_t> out;
            const TupleTable &table = s.database().atoms();
            for (int32_t atom : s.atoms(state)) {
                out.push_back(table.symbol(atom));
                out.insert(out.end(), table.args(atom), table.args(atom) + table.count(atom));
            }
            return to_numpy(std::move(out));
        }, "state"_a, "Fluent atoms as (predicate, objects...) one after another, as an array that can be pickled.")
        .def("import_state", [](LiftedSpace &s, IntArray flat) {
            const LiftedTask &task = s.task();
            std::vector<int32_t> atoms;
            for (size_t i = 0; i < flat.size();) {
                int32_t predicate = flat.data()[i++];
                if (predicate < 0 || static_cast<size_t>(predicate) >= task.predicates.size() || !task.is_stored(predicate) ||
                    i + task.arities[predicate] > flat.size())
                    throw nb::value_error("not a state of this task");
                for (int32_t k = 0; k < task.arities[predicate]; ++k)
                    if (flat.data()[i + k] < 0 || static_cast<size_t>(flat.data()[i + k]) >= task.objects.size())
                        throw nb::value_error("object out of range");
                atoms.push_back(s.database().intern(predicate, flat.data() + i));
                i += task.arities[predicate];
            }
            return s.insert(std::move(atoms));
        }, "atoms"_a);
}

}  // namespace gsp
