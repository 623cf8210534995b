// Heuristics, open lists and search in Python.
#include "bindings.h"

#include "heuristics.h"
#include "landmark_heuristic.h"
#include "path_sums.h"
#include "search.h"

namespace gsp {
namespace {

CostType cost_type_from(const std::string &name) {
    if (name == "normal") return CostType::normal;
    if (name == "one") return CostType::one;
    if (name == "plusone") return CostType::plusone;
    throw InputError("unknown cost type '" + name + "'");
}

AxiomHandling axiom_handling_from(const std::string &name) {
    if (name == "approximate_negative") return AxiomHandling::approximate_negative;
    if (name == "approximate_negative_cycles") return AxiomHandling::approximate_negative_cycles;
    throw InputError("unknown handling of axioms '" + name + "'");
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
                        std::shared_ptr<Heuristic> dead_ends, bool lazy, bool reopen_closed, const std::string &cost_type, std::optional<int64_t> bound,
                        std::optional<double> max_time, std::optional<int64_t> max_expansions,
                        std::optional<size_t> max_memory_kb, int32_t batch_size, bool randomize_successors,
                        bool preferred_successors_first, uint64_t random_seed, nb::object log, nb::object progress) {
    if (batch_size < 1) throw InputError("the batch size must be at least 1");
    SearchOptions options;
    options.open = std::move(open);
    options.f = std::move(f);
    options.preferred = std::move(preferred);
    options.dead_ends = std::move(dead_ends);
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
        result = search(space, std::move(options), watch);
    }
    return result;
}

const char *ordering_name(Ordering ordering) {
    switch (ordering) {
    case Ordering::reasonable: return "reasonable";
    case Ordering::natural: return "natural";
    case Ordering::greedy_necessary: return "greedy-necessary";
    }
    return "";
}

std::vector<std::vector<std::pair<int32_t, int32_t>>> landmark_facts(const Landmarks &landmarks) {
    std::vector<std::vector<std::pair<int32_t, int32_t>>> all;
    for (size_t n = 0; n < landmarks.graph.size(); ++n) {
        auto &facts = all.emplace_back();
        for (Fact fact : landmarks.graph[static_cast<int32_t>(n)].facts) facts.emplace_back(fact.variable, fact.value);
    }
    return all;
}

std::vector<std::tuple<int32_t, int32_t, std::string>> landmark_orderings(const Landmarks &landmarks) {
    std::vector<std::tuple<int32_t, int32_t, std::string>> all;
    for (size_t n = 0; n < landmarks.graph.size(); ++n)
        for (auto [child, ordering] : landmarks.graph[static_cast<int32_t>(n)].children)
            all.emplace_back(static_cast<int32_t>(n), child, ordering_name(ordering));
    return all;
}

void bind_landmarks(nb::module_ &m) {
    nb::class_<Landmarks>(m, "Landmarks", "Facts, or disjunctions of facts, that are true at some time in every plan.")
        .def_prop_ro("facts", landmark_facts, "(variable, value) of the facts of every landmark.")
        .def_prop_ro("orderings", landmark_orderings, "(before, after, kind) by the numbers of landmarks.");
    m.def("landmarks", [](std::shared_ptr<const GroundTask> task, bool disjunctive_landmarks, bool use_orders, bool reasonable_orders,
                          const std::string &axioms, std::optional<double> max_time, std::optional<size_t> max_memory_kb,
                          nb::object log) {
        Watch watch = make_watch(max_time, max_memory_kb);
        LandmarkOptions options{.disjunctive = disjunctive_landmarks, .orders = use_orders, .reasonable = reasonable_orders,
                                .axioms = axiom_handling_from(axioms)};
        LandmarkLog write = [&log](const std::string &line) {
            nb::gil_scoped_acquire gil;
            if (!log.is_none()) log(line);
        };
        nb::gil_scoped_release release;
        return std::make_shared<Landmarks>(std::move(task), options, watch, write);
    }, "task"_a, "disjunctive_landmarks"_a = true, "use_orders"_a = true, "reasonable_orders"_a = true,
          "axioms"_a = "approximate_negative_cycles", "max_time"_a = nb::none(), "max_memory_kb"_a = nb::none(),
          "log"_a.none() = nb::none(), "The landmarks of a task by backchaining (RHW); raises Stopped at a limit.");
    m.def("landmark_sum", [](std::shared_ptr<const Landmarks> landmarks, const std::string &cost_type, const std::string &name,
                             bool pref, bool prog_goal, bool prog_gn, bool prog_r) {
        return make_landmark_sum(std::move(landmarks), {.cost_type = cost_type_from(cost_type), .preferred = pref,
                                                        .progression = {prog_goal, prog_gn, prog_r}}, name);
    }, "landmarks"_a, "cost_type"_a = "normal", "name"_a = "landmark_sum", "pref"_a = false, "prog_goal"_a = true, "prog_gn"_a = true,
          "prog_r"_a = true, "The costs of the landmarks that must still become true.");
    m.def("goal_sum", [](std::shared_ptr<const LiftedTask> task, const std::string &cost_type, const std::string &name) {
        return make_goal_sum(std::move(task), cost_type_from(cost_type), name);
    }, "task"_a, "cost_type"_a = "normal", "name"_a = "landmark_sum", "The same where the goals have to stand for the landmarks.");
}

}  // namespace

void bind_evaluators(nb::module_ &m) {
    nb::class_<Evaluator>(m, "Evaluator", "A number for every state of a search.");
    nb::class_<Heuristic, Evaluator>(m, "Heuristic", "An evaluator that estimates the cost to the goal.")
        .def_prop_ro("name", [](const Heuristic &h) { return h.name; })
        .def_prop_ro("explorations", &Heuristic::explorations, "States of which a delete relaxation was explored.")
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
        }, "space"_a, "state"_a, "Operators that the heuristic prefers in a state.")
        .def("along", [](Heuristic &h, StateSpace &space, const std::vector<int32_t> &operators) {
            h.bind(space);
            std::vector<double> values(operators.size() + 1);
            int32_t state = space.initial_state();
            h.evaluate({&state, 1}, values.data());
            for (size_t i = 0; i < operators.size(); ++i) {
                check_operator(space, operators[i]);
                space.load(state);
                int32_t successor = space.apply(operators[i]);
                h.reached(state, successor);
                state = successor;
                h.evaluate({&state, 1}, &values[i + 1]);
            }
            return to_numpy(std::move(values));
        }, "space"_a, "operators"_a, "Values of the states on a path from the initial state; the operators must be applicable.")
        .def("relaxed_plan", [](Heuristic &h, StateSpace &space, int32_t state) {
            check_state(space, state);
            h.bind(space);
            Rows plan;
            double value = h.relaxed_plan(state, plan);
            std::vector<std::vector<int32_t>> operators, added;
            for (size_t i = 0; i < plan.size(); ++i) {
                auto &row = (plan[i][0] < 0 ? added : operators).emplace_back(plan[i].begin(), plan[i].end());
                if (row[0] < 0) row[0] = ~row[0];
            }
            return std::tuple(value, operators, added);
        }, "space"_a, "state"_a, "The value of a state, the operators of the relaxed plan behind it as (schema, objects...), and where "
           "actions have conditional effects, the atoms that it makes true as (predicate, objects...).");
    m.def("heuristic", [](const std::string &kind, std::variant<std::shared_ptr<const GroundTask>, std::shared_ptr<const LiftedTask>> task,
                          const std::string &cost_type, std::optional<std::string> name, std::optional<double> max_time,
                          std::optional<size_t> max_memory_kb, nb::object progress, const std::string &axioms) {
        Watch watch = make_watch(max_time, max_memory_kb, progress);
        HeuristicRequest request{.ground = nullptr, .lifted = nullptr, .cost_type = cost_type_from(cost_type),
                                 .axioms = axiom_handling_from(axioms), .name = name.value_or(kind), .watch = watch};
        if (auto *ground = std::get_if<0>(&task)) request.ground = *ground;
        else request.lifted = std::get<1>(task);
        nb::gil_scoped_release release;
        return make_heuristic(kind, request);
    }, "kind"_a, "task"_a, "cost_type"_a = "normal", "name"_a = nb::none(), "max_time"_a = nb::none(), "max_memory_kb"_a = nb::none(),
          "progress"_a.none() = nb::none(), "axioms"_a = "approximate_negative_cycles", "A heuristic of the core by its name in the search language. Made for a lifted task it needs no grounding; raises "
          "Stopped at a limit.");
    bind_landmarks(m);
    m.def("g", make_g);
    m.def("const", make_constant, "value"_a);
    m.def("weight", make_weighted, "evaluator"_a, "weight"_a);
    m.def("sum", make_sum, "evaluators"_a);
    m.def("max", make_max, "evaluators"_a);
    m.def("depth", []() -> EvaluatorPtr { return make_depth(); });
    m.def("regret", [](std::shared_ptr<Heuristic> q) -> EvaluatorPtr { return make_regret(std::move(q)); }, "q"_a);
    m.def("levin", [](std::shared_ptr<Heuristic> q, double temperature) {
        return make_policy_guided(PolicyGuide::levin, std::move(q), nullptr, temperature);
    }, "q"_a, "temperature"_a);
    m.def("phs", [](std::shared_ptr<Heuristic> q, EvaluatorPtr h, double temperature, bool star) {
        return make_policy_guided(star ? PolicyGuide::phs_star : PolicyGuide::phs, std::move(q), std::move(h), temperature);
    }, "q"_a, "h"_a, "temperature"_a, "star"_a);

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
        });

    m.def("search", run_search, "space"_a, "open_list"_a, nb::kw_only(), "f_eval"_a.none() = nb::none(),
          "preferred"_a = std::vector<std::shared_ptr<Heuristic>>{}, "dead_ends"_a.none() = nb::none(), "lazy"_a = false, "reopen_closed"_a = false,
          "cost_type"_a = "normal", "bound"_a = nb::none(), "max_time"_a = nb::none(), "max_expansions"_a = nb::none(),
          "max_memory_kb"_a = nb::none(), "batch_size"_a = 1, "randomize_successors"_a = false,
          "preferred_successors_first"_a = false, "random_seed"_a = 0, "log"_a.none() = nb::none(),
          "progress"_a.none() = nb::none(), "Best-first search from the initial state of a space that has only that state.");
    m.def("set_last_resort", set_last_resort, "seconds"_a, "exit_code"_a,
          "Ends the process after some CPU seconds in user mode, whatever it is doing; 0 seconds: not any more.");
}

}  // namespace gsp
