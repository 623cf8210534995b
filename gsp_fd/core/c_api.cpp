#include "c_api.h"

#include <cstdio>
#include <string_view>
#include <unordered_map>

#include "grounder.h"
#include "heuristics.h"
#include "q_heuristic.h"
#include "task_file.h"

using namespace gsp;

/// What knows the relaxed plans of the task, if the model sees them; else null.
static std::shared_ptr<Heuristic> relaxed_plans(const TaskFile &file) {
    auto is_plan = [](const RelationSpec &relation) { return relation.kind == RelationKind::plan; };
    if (std::none_of(file.relations.begin(), file.relations.end(), is_plan)) return nullptr;
    Watch watch(std::numeric_limits<double>::infinity(), 0, nullptr);
    // As the planner does it, so that the model sees the same relaxed plans.
    std::shared_ptr<const GroundTask> small = ground(file.task, small_grounding, watch);
    return make_heuristic("ff", {.ground = small, .lifted = small ? nullptr : file.task, .cost_type = CostType::normal, .name = "ff", .watch = watch});
}

struct gsp_task {
    explicit gsp_task(TaskFile source)
        : file(std::move(source)), network(std::move(file.weights)),
          heuristic(std::make_shared<Encoder>(file.task, file.relations), relaxed_plans(file),
                    [this](const EncodedBatch &batch, Watch *watch) { return network.q_values(batch, watch); },
                    Network::messages_per_call, "gsp", file.model),
          space(std::make_unique<LiftedSpace>(file.task, false)) {
        heuristic.bind(*space);
        for (size_t i = 0; i < file.task->objects.size(); ++i) objects.emplace(file.task->objects[i], i);
        for (size_t i = 0; i < file.task->predicates.size(); ++i)
            if (file.task->is_stored(static_cast<int32_t>(i))) fluents.emplace(file.task->predicates[i], i);
    }

    /// Whether the work was done; if not, why.
    template<class Work>
    int attempt(Work &&work) try {
        work();
        return 1;
    } catch (const std::exception &wrong) {
        error = wrong.what();
        return 0;
    }

    TaskFile file;
    Network network;
    QHeuristic heuristic;
    std::unique_ptr<LiftedSpace> space;
    std::unordered_map<std::string_view, int32_t> objects, fluents;
    std::vector<int32_t> atoms, operators, successors, costs;  // buffers
    std::string error;
};

/// Splits "predicate(a, b)" into its predicate and arguments, at most `max` of them; -1 if it is something else.
static int split(std::string_view atom, std::string_view &predicate, std::string_view *args, int max) {
    size_t open = atom.find('(');
    if (open == std::string_view::npos || atom.back() != ')') return -1;
    predicate = atom.substr(0, open);
    std::string_view rest = atom.substr(open + 1, atom.size() - open - 2);
    int count = 0;
    while (!rest.empty()) {
        if (count == max) return -1;
        size_t length = std::min(rest.find(", "), rest.size());
        args[count++] = rest.substr(0, length);
        rest.remove_prefix(std::min(length + 2, rest.size()));
    }
    return count;
}

gsp_task *gsp_task_read(const char *text, size_t size, char *error, size_t error_size) {
    try {
        return new gsp_task(TaskFile::read({text, size}));
    } catch (const InputError &wrong) {
        if (wrong.line) std::snprintf(error, error_size, "line %ld: %s", wrong.line, wrong.what());
        else std::snprintf(error, error_size, "%s", wrong.what());
    } catch (const std::exception &wrong) {
        std::snprintf(error, error_size, "%s", wrong.what());
    }
    return nullptr;
}

void gsp_task_free(gsp_task *task) { delete task; }
const char *gsp_task_model(const gsp_task *task) { return task->file.model.c_str(); }

int32_t gsp_atom(gsp_task *task, const char *name) {
    constexpr std::string_view prefix = "Atom ";
    std::string_view atom = name, predicate, args[LiftedTask::max_parameters];
    if (!atom.starts_with(prefix)) return -1;
    int count = split(atom.substr(prefix.size()), predicate, args, LiftedTask::max_parameters);
    auto fluent = task->fluents.find(predicate);
    if (fluent == task->fluents.end() || task->file.task->arities[fluent->second] != count) return -1;
    int32_t numbers[LiftedTask::max_parameters];
    for (int i = 0; i < count; ++i) {
        auto object = task->objects.find(args[i]);
        if (object == task->objects.end()) return -1;
        numbers[i] = object->second;
    }
    return task->space->database().intern(fluent->second, numbers);
}

const int32_t *gsp_state_atoms(gsp_task *task, int32_t state, size_t *count) {
    auto atoms = task->space->atoms(state);
    *count = atoms.size();
    return atoms.data();
}

int32_t gsp_state(gsp_task *task, const int32_t *atoms, size_t count) {
    task->atoms.assign(atoms, atoms + count);
    return task->space->insert_sorting(task->atoms);
}

int32_t gsp_initial_state(gsp_task *task) { return task->space->initial_state(); }
int32_t gsp_num_states(const gsp_task *task) { return static_cast<int32_t>(task->space->num_states()); }
size_t gsp_state_bytes(const gsp_task *task) { return task->space->state_bytes(); }

void gsp_forget_states(gsp_task *task) {
    auto fresh = std::make_unique<LiftedSpace>(task->file.task, false);
    // A new space numbers the atoms of the task as the old one did; the others follow in the old order.
    const TupleTable &atoms = task->space->database().atoms();
    for (size_t id = 0; id < atoms.size(); ++id)
        fresh->database().intern(atoms.symbol(static_cast<int32_t>(id)), atoms.args(static_cast<int32_t>(id)));
    task->space = std::move(fresh);
    task->heuristic.bind(*task->space);
}

size_t gsp_successors(gsp_task *task, int32_t state, const int32_t **successors, const int32_t **costs) {
    int done = task->attempt([&] {
        task->operators.clear();
        task->successors.clear();
        task->costs.clear();
        task->space->load(state);
        task->space->applicable(task->operators);
        for (int32_t op : task->operators) {
            task->successors.push_back(task->space->apply(op));
            task->costs.push_back(task->space->cost(op));
        }
    });
    if (!done) return GSP_FAILED;
    *successors = task->successors.data();
    *costs = task->costs.data();
    return task->operators.size();
}

int gsp_values(gsp_task *task, const int32_t *states, size_t count, double *values) {
    return task->attempt([&] { task->heuristic.evaluate({states, count}, values); });
}

int gsp_action_values(gsp_task *task, int32_t state, double *values) {
    return task->attempt([&] {
        Rows operators;
        task->space->load(state);
        task->space->applicable(operators.values);
        operators.close();
        task->heuristic.evaluate_operators({&state, 1}, operators, values);
    });
}

const char *gsp_error(const gsp_task *task) { return task->error.c_str(); }
