// The Python face of the core. No logic lives here beyond conversion, the GIL and signals.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "encoder.h"
#include "episode.h"
#include "grounder.h"
#include "ground_space.h"
#include "lifted_space.h"
#include "relaxation.h"
#include "search.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace gsp {
namespace {

using IntArray = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Runs pending Python signal handlers; a handler that raises stops the work.
bool poll_signals() {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) return false;
    PyErr_Clear();
    return true;
}

Watch make_watch(std::optional<double> max_time, std::optional<size_t> max_memory_kb) {
    return Watch(max_time.value_or(std::numeric_limits<double>::infinity()), max_memory_kb.value_or(0), poll_signals);
}

/// Text of a file that may be in any encoding.
nb::str to_str(std::string_view text) {
    return nb::steal<nb::str>(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

template<class T>
nb::object to_numpy(std::vector<T> values) {
    auto *owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner));
}

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

Schema schema_from(nb::handle source) {
    Schema schema;
    schema.name = nb::cast<std::string>(source.attr("name"));
    schema.parameters = ints(source.attr("parameters"));
    schema.positive = literals(source.attr("positive"));
    schema.negative = literals(source.attr("negative"));
    schema.equal = pairs(source.attr("equal"));
    schema.unequal = pairs(source.attr("unequal"));
    schema.add = literals(source.attr("add"));
    schema.del = literals(source.attr("delete"));
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

// ---- a heuristic computed in Python

class CallbackHeuristic final : public Heuristic {
public:
    CallbackHeuristic(nb::callable states, nb::object operators, std::string name)
        : Heuristic(std::move(name)), states_(std::move(states)), operators_(std::move(operators)) {}
    ~CallbackHeuristic() override {
        nb::gil_scoped_acquire gil;
        states_.reset();
        operators_.reset();
    }
    void bind(StateSpace &space) override { (void)space; }
    bool batched() const override { return true; }
    bool safe() const override { return false; }
    bool per_operator() const override { return operators_.is_valid() && !operators_.is_none(); }
    void evaluate(std::span<const int32_t> states, double *values) override {
        nb::gil_scoped_acquire gil;
        take(states_(to_numpy(std::vector<int32_t>(states.begin(), states.end()))), values, states.size());
    }
    void evaluate_operators(std::span<const int32_t> states, const Rows &operators, double *values) override {
        nb::gil_scoped_acquire gil;
        take(operators_(to_numpy(std::vector<int32_t>(states.begin(), states.end())), to_numpy(operators.begin),
                        to_numpy(operators.values)),
             values, operators.values.size());
    }

private:
    void take(nb::object result, double *values, size_t count) {
        nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu> array;
        if (!nb::try_cast(result, array)) throw InputError("evaluator " + name + " must return an array of float64 values");
        if (array.size() != count)
            throw InputError("evaluator " + name + " returned " + std::to_string(array.size()) + " values for " +
                             std::to_string(count));
        for (size_t i = 0; i < count; ++i) {
            if (std::isnan(array.data()[i])) throw InputError("evaluator " + name + " returned a value that is not a number");
            values[i] = array.data()[i];
        }
    }
    nb::callable states_;
    nb::object operators_;
};

CostType cost_type_from(const std::string &name) {
    if (name == "normal") return CostType::normal;
    if (name == "one") return CostType::one;
    if (name == "plusone") return CostType::plusone;
    throw InputError("unknown cost type '" + name + "'");
}

const char *outcome_name(Outcome outcome) {
    switch (outcome) {
    case Outcome::solved: return "solved";
    case Outcome::exhausted: return "exhausted";
    case Outcome::time: return "time";
    case Outcome::memory: return "memory";
    case Outcome::interrupted: return "interrupted";
    case Outcome::expansions: return "expansions";
    }
    return "";
}

SearchResult run_search(StateSpace &space, OpenListPtr open, EvaluatorPtr f, std::vector<std::shared_ptr<Heuristic>> preferred,
                        bool lazy, bool reopen_closed, const std::string &cost_type, std::optional<int64_t> bound,
                        std::optional<double> max_time, std::optional<int64_t> max_expansions,
                        std::optional<size_t> max_memory_kb, int32_t batch_size, bool randomize_successors,
                        bool preferred_successors_first, uint64_t random_seed, nb::object log, nb::object progress) {
    if (batch_size < 1) throw InputError("the batch size must be at least 1");
    SearchOptions options;
    options.open = std::move(open);
    options.f = std::move(f);
    options.preferred = std::move(preferred);
    options.lazy = lazy;
    options.reopen = reopen_closed;
    options.cost_type = cost_type_from(cost_type);
    options.bound = bound.value_or(INT64_MAX);
    options.max_expansions = max_expansions.value_or(INT64_MAX);
    options.batch_size = batch_size;
    options.randomize_successors = randomize_successors;
    options.preferred_successors_first = preferred_successors_first;
    options.seed = random_seed;
    if (!log.is_none())
        options.log = [log](const std::string &line) {
            nb::gil_scoped_acquire gil;
            log(line);
        };
    if (!progress.is_none())
        options.progress = [progress](int64_t expanded, int64_t evaluated, double best) {
            nb::gil_scoped_acquire gil;
            progress(expanded, evaluated, best);
        };
    Watch watch = make_watch(max_time, max_memory_kb);
    SearchResult result;
    {
        nb::gil_scoped_release release;
        result = search(space, options, watch);
    }
    return result;
}

std::vector<int32_t> applicable(StateSpace &space, int32_t state) {
    std::vector<int32_t> out;
    space.load(state);
    space.applicable(out);
    return out;
}

void check_state(const StateSpace &space, int32_t state) {
    if (state < 0 || static_cast<size_t>(state) >= space.num_states()) throw nb::index_error("no such state");
}

void check_operator(const StateSpace &space, int32_t op) {
    if (op < 0 || static_cast<size_t>(op) >= space.num_operators()) throw nb::index_error("no such operator");
}

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
        .def_prop_ro("has_conditional_effects", [](const GroundTask &t) {
            for (const Operator &op : t.operators)
                for (const Effect &effect : op.effects)
                    if (!effect.conditions.empty()) return true;
            return false;
        })
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
        .def("fact_name", [](const GroundTask &t, size_t v, size_t value) {
            return to_str(t.variables.at(v).value_names.at(value));
        })
        .def("operator_name", [](const GroundTask &t, size_t i) {
            if (i >= t.operators.size()) throw nb::index_error("no such operator");
            return to_str(t.operator_name(i));
        })
        .def("operator_cost", [](const GroundTask &t, size_t i) { return t.operators.at(i).cost; });

    nb::class_<LiftedTask>(m, "LiftedTask", "A lifted task, made from gsp_fd.pddl.LiftedTask.")
        .def_static("from_spec", [](nb::object spec) { return lifted_from(spec); }, "spec"_a)
        .def("ground", [](const LiftedTask &task, std::optional<double> max_time, std::optional<size_t> max_memory_kb) {
            Watch watch = make_watch(max_time, max_memory_kb);
            nb::gil_scoped_release release;
            return ground(task, watch);
        }, "max_time"_a = nb::none(), "max_memory_kb"_a = nb::none(), "The ground task; raises Stopped at a limit.");
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
        .def_prop_ro("state_bytes", &StateSpace::state_bytes)
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
        .def(nb::init<std::shared_ptr<const LiftedTask>, bool>(), "task"_a, "symmetry"_a = false)
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
                if (predicate < 0 || static_cast<size_t>(predicate) >= task.predicates.size() || !task.fluent[predicate] ||
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

/// A NumPy view of one array of a batch, which keeps the batch alive.
template<class T>
nb::object view(nb::handle owner, std::vector<T> &values, size_t columns) {
    if (columns == 0) return nb::cast(nb::ndarray<nb::numpy, T>(values.data(), {values.size()}, owner));
    return nb::cast(nb::ndarray<nb::numpy, T>(values.data(), {values.size() / columns, columns}, owner));
}

Rows rows_from(const IntArray &begin, const IntArray &values) {
    Rows rows;
    rows.begin.assign(begin.data(), begin.data() + begin.size());
    rows.values.assign(values.data(), values.data() + values.size());
    return rows;
}

void bind_encoder(nb::module_ &m) {
    nb::class_<EncodedBatch>(m, "EncodedBatch", "Index tensors of a batch of states; the arrays are views.")
        .def_prop_ro("relations", [](nb::handle self) {
            auto &batch = nb::cast<EncodedBatch &>(self);
            nb::list out;
            for (size_t r = 0; r < batch.relations.size(); ++r)
                out.append(view(self, batch.relations[r], batch.arities[r]));
            return out;
        })
        .def_prop_ro("node_state", [](nb::handle self) { return view(self, nb::cast<EncodedBatch &>(self).node_state, 0); })
        .def_prop_ro("action_node", [](nb::handle self) { return view(self, nb::cast<EncodedBatch &>(self).action_node, 0); })
        .def_prop_ro("action_state", [](nb::handle self) { return view(self, nb::cast<EncodedBatch &>(self).action_state, 0); })
        .def_prop_ro("state_sizes", [](nb::handle self) { return view(self, nb::cast<EncodedBatch &>(self).state_sizes, 0); });
    nb::class_<Encoder>(m, "Encoder", "States with their actions as tensors of a relational network.")
        .def("__init__", [](Encoder *self, std::shared_ptr<const LiftedTask> task,
                            const std::vector<std::tuple<std::string, int32_t, int32_t>> &relations) {
            std::vector<RelationSpec> specs;
            for (const auto &[kind, symbol, arity] : relations) specs.push_back({relation_kind_from(kind), symbol, arity});
            new (self) Encoder(std::move(task), std::move(specs));
        }, "task"_a, "relations"_a, "relations: (kind, number in the task or -1, columns) in the model's order.")
        .def("encode", [](const Encoder &encoder, LiftedSpace &space, IntArray states, IntArray begin, IntArray operators) {
            Rows rows = rows_from(begin, operators);
            if (rows.size() != states.size() || rows.begin.front() != 0 ||
                static_cast<size_t>(rows.begin.back()) != rows.values.size() ||
                !std::is_sorted(rows.begin.begin(), rows.begin.end()))
                throw nb::value_error("one row of operators per state is needed");
            for (size_t i = 0; i < states.size(); ++i) check_state(space, states.data()[i]);
            for (int32_t op : rows.values) check_operator(space, op);
            nb::gil_scoped_release release;
            return encoder.encode(space, {states.data(), states.size()}, rows);
        }, "space"_a, "states"_a, "begin"_a, "operators"_a,
             "operators[begin[i]:begin[i + 1]] are the actions of states[i]; Q-values come in this order.");
    m.def("applicable_rows", [](StateSpace &space, IntArray states) {
        Rows rows;
        for (size_t i = 0; i < states.size(); ++i) {
            check_state(space, states.data()[i]);
            space.load(states.data()[i]);
            space.applicable(rows.values);
            rows.close();
        }
        return nb::make_tuple(to_numpy(std::move(rows.begin)), to_numpy(std::move(rows.values)));
    }, "space"_a, "states"_a, "Applicable operators of several states: (begin, operators).");
}

using FloatArray = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// States of episodes, each with the encoder of its task, as one batch.
EncodedBatch encode_states(const std::vector<const Encoder *> &encoders, const std::vector<Episode *> &episodes,
                           IntArray states) {
    if (encoders.size() != episodes.size() || episodes.size() != states.size() || episodes.empty())
        throw nb::value_error("one encoder, one episode and one state per row are needed");
    for (size_t i = 0; i < episodes.size(); ++i) check_state(episodes[i]->space(), states.data()[i]);
    nb::gil_scoped_release release;
    EncodedBatch batch = encoders[0]->empty_batch();
    for (size_t i = 0; i < episodes.size(); ++i) {
        int32_t state = states.data()[i];
        encoders[i]->append_state(episodes[i]->space(), state, episodes[i]->actions(state), batch);
    }
    return batch;
}

template<class T, class Field>
nb::object column(const Episode &episode, Field &&field) {
    std::vector<T> out;
    for (const Transition &t : episode.transitions()) out.push_back(static_cast<T>(field(t)));
    return to_numpy(std::move(out));
}

void bind_episodes(nb::module_ &m) {
    nb::class_<Episode>(m, "Episode", "A search episode of GSP that waits for Q-values.")
        .def("__init__", [](Episode *self, std::shared_ptr<const LiftedTask> task, double weight, int64_t budget, bool greedy,
                            bool symmetry, std::shared_ptr<Heuristic> dead_ends, std::shared_ptr<Heuristic> guide) {
            new (self) Episode(std::move(task), {weight, budget, greedy, symmetry, std::move(dead_ends), std::move(guide)});
        }, "task"_a, nb::kw_only(), "weight"_a = 2.0, "budget"_a = 400, "greedy"_a = false, "symmetry"_a = true,
             "dead_ends"_a.none() = nb::none(), "guide"_a.none() = nb::none())
        .def("advance", &Episode::advance, nb::call_guard<nb::gil_scoped_release>(),
             "Goes on until Q-values of `pending` are needed (True) or the episode is over (False).")
        .def_prop_ro("pending", &Episode::pending)
        .def("feed", [](Episode &e, FloatArray q) { e.feed({q.data(), q.size()}); }, "q"_a)
        .def("num_actions", [](Episode &e, int32_t state) { check_state(e.space(), state); return e.actions(state).size(); })
        .def_prop_ro("solved", &Episode::solved)
        .def_prop_ro("expansions", &Episode::expansions)
        .def_prop_ro("plan_length", &Episode::plan_length)
        .def_prop_ro("plan", &Episode::plan)
        .def("export", [](Episode &e, bool plan_only) { return to_numpy(e.record(plan_only)); }, "plan_only"_a = false,
             "The episode, or its plan with the states on it, as one int32 array that another process can restore.")
        .def_static("restore", [](std::shared_ptr<const LiftedTask> task, IntArray record) {
            return Episode::restore(std::move(task), {record.data(), record.size()});
        }, "task"_a, "record"_a, "A finished episode from its export, for the same task.")
        .def("transitions", [](const Episode &e) {
            return nb::make_tuple(column<int32_t>(e, [](auto &t) { return t.state; }),
                                  column<int32_t>(e, [](auto &t) { return t.action; }),
                                  column<int32_t>(e, [](auto &t) { return t.successor; }),
                                  column<int32_t>(e, [](auto &t) { return t.cost; }),
                                  column<float>(e, [](auto &t) { return t.bound; }),
                                  column<int8_t>(e, [](auto &t) { return t.kind; }));
        }, "Columns state, action, successor, cost, bound and kind (0 inner, 1 goal, 2 dead end).");
    m.def("encode_states", encode_states, "encoders"_a, "episodes"_a, "states"_a);
    m.def("feed_all", [](const std::vector<Episode *> &episodes, FloatArray q) {
        size_t used = 0;
        for (Episode *episode : episodes) {
            size_t count = episode->pending() < 0 ? 0 : episode->actions(episode->pending()).size();
            if (used + count > q.size()) throw nb::value_error("too few Q-values");
            episode->feed({q.data() + used, count});
            used += count;
        }
    }, "episodes"_a, "q"_a, "Gives the pending states of episodes their values, which stand one after another.");
}

void bind_evaluators(nb::module_ &m) {
    nb::class_<Evaluator>(m, "Evaluator", "A number for every state of a search.");
    nb::class_<Heuristic, Evaluator>(m, "Heuristic", "An evaluator that estimates the cost to the goal.")
        .def_prop_ro("name", [](const Heuristic &h) { return h.name; })
        .def("evaluate", [](Heuristic &h, StateSpace &space, IntArray states) {
            for (size_t i = 0; i < states.size(); ++i) check_state(space, states.data()[i]);
            h.bind(space);
            std::vector<double> values(states.size());
            h.evaluate({states.data(), states.size()}, values.data());
            return to_numpy(std::move(values));
        }, "space"_a, "states"_a, "Values of states, infinity for dead ends.")
        .def("preferred", [](Heuristic &h, StateSpace &space, int32_t state) {
            check_state(space, state);
            h.bind(space);
            std::vector<int32_t> preferred;
            h.evaluate_preferred(state, preferred);
            return preferred;
        }, "space"_a, "state"_a, "Operators that the heuristic prefers in a state.");
    auto relaxed = [&m](const char *function, RelaxedKind kind, const char *name, const char *doc) {
        m.def(function, [kind](std::shared_ptr<const GroundTask> task, const std::string &cost_type, std::string name) {
            return make_relaxed(kind, std::move(task), cost_type_from(cost_type), std::move(name));
        }, "task"_a, "cost_type"_a = "normal", "name"_a = name, doc);
    };
    relaxed("ff", RelaxedKind::hff, "ff", "hFF: cost of a relaxed plan; prefers its first operators.");
    relaxed("hmax", RelaxedKind::hmax, "hmax", "hmax: admissible.");
    relaxed("hadd", RelaxedKind::hadd, "add", "hadd: the sum of the goals' relaxed costs.");
    m.def("blind", [](nb::handle, const std::string &cost_type, std::string name) {
        return make_blind(cost_type_from(cost_type), std::move(name));
    }, "task"_a, "cost_type"_a = "normal", "name"_a = "blind", "The cheapest operator's cost, 0 in goal states.");
    m.def("goalcount", [](nb::handle, std::string name) { return make_goal_count(std::move(name)); }, "task"_a,
          "name"_a = "goalcount", "The number of unsatisfied goals.");
    m.def("g", make_g);
    m.def("const", make_constant, "value"_a);
    m.def("weight", make_weighted, "evaluator"_a, "weight"_a);
    m.def("sum", make_sum, "evaluators"_a);
    m.def("max", make_max, "evaluators"_a);
    m.def("callback", [](nb::callable states, std::string name, nb::object operators) -> std::shared_ptr<Heuristic> {
        return std::make_shared<CallbackHeuristic>(std::move(states), std::move(operators), std::move(name));
    }, "states"_a, "name"_a, "operators"_a = nb::none(),
          "A heuristic in Python: states(ids) -> float64 values; operators(ids, begin, ops) -> float64 values of the operators.");

    nb::class_<OpenList>(m, "OpenList");
    m.def("SingleOpenList", [](EvaluatorPtr key, bool pref_only) {
        return make_ordered_open_list({std::move(key)}, pref_only, false);
    }, "evaluator"_a, "pref_only"_a = false);
    m.def("TieBreakingOpenList", make_ordered_open_list, "evaluators"_a, "pref_only"_a = false, "unsafe_pruning"_a = true);
    m.def("DepthFirstOpenList", make_depth_first_open_list, "evaluator"_a);
    m.def("AlternationOpenList", make_alternation_open_list, "lists"_a, "boost"_a = 0);
}

void bind_search(nb::module_ &m) {
    nb::class_<SearchResult>(m, "SearchResult")
        .def_prop_ro("status", [](const SearchResult &r) { return outcome_name(r.outcome); })
        .def_ro("complete", &SearchResult::complete)
        .def_ro("bounded", &SearchResult::bounded)
        .def_ro("plan", &SearchResult::plan)
        .def_ro("plan_cost", &SearchResult::plan_cost)
        .def_ro("expanded", &SearchResult::expanded)
        .def_ro("reopened", &SearchResult::reopened)
        .def_ro("evaluated", &SearchResult::evaluated)
        .def_ro("evaluations", &SearchResult::evaluations)
        .def_ro("generated", &SearchResult::generated)
        .def_ro("dead_ends", &SearchResult::dead_ends)
        .def_ro("jumped", &SearchResult::jumped)
        .def_ro("expanded_until_last_jump", &SearchResult::expanded_jump)
        .def_ro("reopened_until_last_jump", &SearchResult::reopened_jump)
        .def_ro("evaluated_until_last_jump", &SearchResult::evaluated_jump)
        .def_ro("generated_until_last_jump", &SearchResult::generated_jump)
        .def_ro("registered_states", &SearchResult::registered)
        .def_ro("search_time", &SearchResult::seconds)
        .def_prop_ro("bytes_per_state", [](const SearchResult &r) {
            return (r.state_bytes + r.node_bytes) / static_cast<double>(std::max<int64_t>(r.registered, 1));
        })
        .def_ro("state_bytes", &SearchResult::state_bytes)
        .def_ro("node_bytes", &SearchResult::node_bytes)
        .def_ro("open_bytes", &SearchResult::open_bytes);

    m.def("search", run_search, "space"_a, "open_list"_a, nb::kw_only(), "f_eval"_a.none() = nb::none(),
          "preferred"_a = std::vector<std::shared_ptr<Heuristic>>{}, "lazy"_a = false, "reopen_closed"_a = false,
          "cost_type"_a = "normal", "bound"_a = nb::none(), "max_time"_a = nb::none(), "max_expansions"_a = nb::none(),
          "max_memory_kb"_a = nb::none(), "batch_size"_a = 1, "randomize_successors"_a = false,
          "preferred_successors_first"_a = false, "random_seed"_a = 0, "log"_a.none() = nb::none(),
          "progress"_a.none() = nb::none(), "Best-first search from the initial state of a space that has only that state.");
    m.def("peak_memory_kb", peak_kb);
    m.def("resident_memory_kb", resident_kb);
}

}  // namespace
}  // namespace gsp

NB_MODULE(_core, m) {
    m.doc() = "Native core: tasks, states, heuristics and search.";
    nb::set_leak_warnings(false);
    static PyObject *input_error = PyErr_NewException("gsp_fd._core.CoreInputError", PyExc_ValueError, nullptr);
    static PyObject *stopped = PyErr_NewException("gsp_fd._core.Stopped", PyExc_RuntimeError, nullptr);
    m.attr("CoreInputError") = nb::handle(input_error);
    m.attr("Stopped") = nb::handle(stopped);
    nb::register_exception_translator([](const std::exception_ptr &p, void *) {
        try {
            std::rethrow_exception(p);
        } catch (const gsp::InputError &e) {
            nb::tuple args = nb::make_tuple(gsp::to_str(e.what()), e.line);
            PyErr_SetObject(input_error, args.ptr());
        } catch (const gsp::Stopped &e) {
            const char *reason = e.reason == gsp::Stop::time ? "time" : e.reason == gsp::Stop::memory ? "memory" : "interrupted";
            PyErr_SetString(stopped, reason);
        }
    });
    gsp::bind_tasks(m);
    gsp::bind_spaces(m);
    gsp::bind_encoder(m);
    gsp::bind_evaluators(m);
    gsp::bind_search(m);
    gsp::bind_episodes(m);
}
