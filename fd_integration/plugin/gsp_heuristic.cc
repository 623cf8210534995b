#include "gsp_heuristic.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>

#include "plugins/plugin.h"
#include "utils/logging.h"
#include "utils/system.h"

// Fast Downward's development head makes task-independent components, release 24.06 makes evaluators at once.
#if __has_include("component.h")
#define GSP_TASK_INDEPENDENT
#endif

using namespace std;

namespace gsp_heuristic {

// Heuristic stores values in 31 bits.
static constexpr double max_value = (1 << 30) - 1;

// A model that cannot be used ends the search without a plan: codes from 30 on would make a portfolio throw away its plans.
[[noreturn]] static void give_up(const string &message) {
    cerr << "gsp: " << message << endl;
    utils::exit_with(utils::ExitCode::SEARCH_UNSOLVED_INCOMPLETE);
}

static string quoted(const string &text) {
    string result = "'";
    for (char c : text) result += c == '\'' ? string("'\\''") : string(1, c);
    return result + "'";
}

// Not with -m: that would look into the current folder first, which may be one with another gsp_fd.
static const char *const plugin_task = R"(import sys
if sys.path and not sys.path[0]:
    sys.path.pop(0)
from gsp_fd.fd_integration.tools.plugin_task import main
sys.exit(main()))";

/// The task file that the Python package of gsp-fd writes; it finds the PDDL files if they are not given.
static string ask_python(const string &model, const string &domain, const string &problem) {
    const char *python = getenv("GSP_PYTHON");
    const string program = python ? python : GSP_DEFAULT_PYTHON;
    string command = quoted(program) + " -c " + quoted(plugin_task);
    for (const auto &[option, value] : {pair{"--model", &model}, pair{"--domain", &domain}, pair{"--problem", &problem}})
        if (!value->empty()) command += string(" ") + option + "=" + quoted(*value);
    FILE *pipe = popen((command + " < /dev/null").c_str(), "r");
    if (!pipe) throw runtime_error("cannot start " + program);
    string text;
    char buffer[65536];
    while (size_t count = fread(buffer, 1, sizeof(buffer), pipe)) text.append(buffer, count);
    // What went wrong is already on standard error.
    if (pclose(pipe) != 0) throw runtime_error("got no task from gsp-fd in " + program + " (GSP_PYTHON names the Python to use)");
    return text;
}

static TaskPtr get_task(const string &model, const string &domain, const string &problem, const string &task_file) {
    if (task_file.empty()) return read_task(ask_python(model, domain, problem), "task from gsp-fd");
    if (!model.empty() || !domain.empty() || !problem.empty())
        throw runtime_error("a task file has its model and PDDL already: say gsp(task=...) without them");
    ifstream file(task_file, ios::binary);
    if (!file) throw runtime_error("cannot read the task file " + task_file);
    return read_task({istreambuf_iterator<char>(file), {}}, task_file);
}

GspHeuristic::GspHeuristic(const shared_ptr<AbstractTask> &task, const string &model, const string &domain, const string &problem,
                           const string &task_file, int scale, int cache_mb, bool parent_q, bool cache_estimates,
                           const string &description, utils::Verbosity verbosity)
    : Heuristic(task, cache_estimates, description, verbosity), scale_(scale) {
    try {
        values_ = make_unique<StateValues>(get_task(model, domain, problem, task_file), parent_q,
                                           static_cast<size_t>(cache_mb) << 20);
    } catch (const runtime_error &error) {
        give_up(error.what());
    }
    if (log.is_at_least_normal()) log << "GSP model: " << gsp_task_model(&values_->task()) << endl;
    number_atoms();
    const vector<int32_t> &initial = atoms(task_proxy.get_initial_state());
    if (gsp_state(&values_->task(), initial.data(), initial.size()) != gsp_initial_state(&values_->task()))
        give_up("the PDDL is not that of the task on standard input: their initial states differ");
}

void GspHeuristic::number_atoms() {
    gsp_task *lifted = &values_->task();
    for (VariableProxy variable : task_proxy.get_variables()) {
        first_fact_.push_back(atom_of_fact_.size());
        for (int value = 0; value < variable.get_domain_size(); ++value)
            atom_of_fact_.push_back(gsp_atom(lifted, variable.get_fact(value).get_name().c_str()));
    }
    vector<int32_t> mentioned = atom_of_fact_;
    sort(mentioned.begin(), mentioned.end());
    size_t count;
    const int32_t *initial = gsp_state_atoms(lifted, gsp_initial_state(lifted), &count);
    set_difference(initial, initial + count, mentioned.begin(), mentioned.end(), back_inserter(constant_atoms_));
}

const vector<int32_t> &GspHeuristic::atoms(const State &ancestor_state) {
    State state = convert_ancestor_state(ancestor_state);
    state.unpack();
    atoms_ = constant_atoms_;
    size_t variable = 0;
    for (int value : state.get_unpacked_values())
        if (int32_t atom = atom_of_fact_[first_fact_[variable++] + value]; atom >= 0) atoms_.push_back(atom);
    return atoms_;
}

void GspHeuristic::notify_initial_state(const State &) {
    parent_ = StateID::no_state;
    values_->forget_parent();
}

void GspHeuristic::notify_state_transition(const State &parent_state, OperatorID, const State &) {
    if (parent_state.get_id() == parent_) return;
    parent_ = parent_state.get_id();
    values_->set_parent(atoms(parent_state));
}

int GspHeuristic::compute_heuristic(const State &ancestor_state) {
    float value = 0;
    try {
        value = values_->value(atoms(ancestor_state));
    } catch (const runtime_error &error) {
        give_up(error.what());
    }
    warn_of_strangers();
    if (isinf(value)) return DEAD_END;
    return static_cast<int>(clamp(round(static_cast<double>(value) * scale_), 0.0, max_value));
}

void GspHeuristic::warn_of_strangers() {
    if (warned_ || values_->strangers() == 0) return;
    warned_ = true;
    log << "Warning: the translator dropped variables that change, so the model sees them as they were at first. "
        << "Translate with --keep-unimportant-variables." << endl;
}

static auto options_of(const plugins::Options &opts) {
    return make_tuple(opts.get<string>("model"), opts.get<string>("domain"), opts.get<string>("problem"), opts.get<string>("task"),
                      opts.get<int>("scale"), opts.get<int>("cache_mb"), opts.get<bool>("parent_q"));
}

#ifdef GSP_TASK_INDEPENDENT
using Base = plugins::TypedFeature<TaskIndependentEvaluator>;
#else
using Base = plugins::TypedFeature<Evaluator, GspHeuristic>;
#endif

class GspHeuristicFeature : public Base {
public:
    GspHeuristicFeature() : Base("gsp") {
        document_title("GSP: a learned Q-function");
        document_synopsis("h = -max_a Q(s, a) of a model of gsp-fd. All successors of a state are evaluated in one call of the network.");
        add_option<string>("model", "an .onnx file, the name of a shipped model, or auto (default)", "\"\"");
        add_option<string>("domain", "PDDL domain (default: GSP_DOMAIN in the environment, or the driver's)", "\"\"");
        add_option<string>("problem", "PDDL problem (default: GSP_PROBLEM in the environment, or the driver's)", "\"\"");
        add_option<string>("task", "a file written by python -m gsp_fd.fd_integration.tools.plugin_task, instead of the three above", "\"\"");
        add_option<int>("scale", "h is rounded after it was multiplied by this", "1", plugins::Bounds("1", "1000000"));
        add_option<int>("cache_mb", "memory for states with values", "256", plugins::Bounds("1", "infinity"));
        add_option<bool>("parent_q", "h = -Q(parent, a) - cost(a): faster, but it depends on the parent", "false");
        add_heuristic_options_to_feature(*this, "gsp");
        document_language_support("action costs", "as the model was trained");
        document_language_support("conditional effects", "not supported");
        document_language_support("axioms", "not supported");
        document_property("admissible", "no");
        document_property("consistent", "no");
        document_property("safe", "no");
        document_property("preferred operators", "no");
    }

#ifdef GSP_TASK_INDEPENDENT
    shared_ptr<TaskIndependentEvaluator> create_component(const plugins::Options &opts) const override {
        return components::make_auto_task_independent_component<GspHeuristic, Evaluator>(
            options_of(opts), get_heuristic_arguments_from_options(opts));
    }
#else
    shared_ptr<GspHeuristic> create_component(const plugins::Options &opts, const utils::Context &) const override {
        auto [task, cache_estimates, description, verbosity] = get_heuristic_arguments_from_options(opts);
        return plugins::make_shared_from_arg_tuples<GspHeuristic>(task, options_of(opts), cache_estimates, description, verbosity);
    }
#endif
};

static plugins::FeaturePlugin<GspHeuristicFeature> _plugin;

}  // namespace gsp_heuristic
