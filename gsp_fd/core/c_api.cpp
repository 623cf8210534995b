#include "c_api.h"

#include <cstdio>
#include <string_view>
#include <unordered_map>

#include "heuristics.h"
#include "task_file.h"

using namespace gsp;

struct gsp_task {
    explicit gsp_task(TaskFile source)
        : file(std::move(source)), encoder(file.task, file.relations), network(std::move(file.weights)),
          space(std::make_unique<LiftedSpace>(file.task, false)), batch(encoder.empty_batch()) {
        for (size_t i = 0; i < file.task->objects.size(); ++i) objects.emplace(file.task->objects[i], i);
        for (size_t i = 0; i < file.task->predicates.size(); ++i)
            if (file.task->fluent[i]) fluents.emplace(file.task->predicates[i], i);
        if (!encoder.takes_plans()) return;
        Watch watch(std::numeric_limits<double>::infinity(), 0, nullptr);
        plans = make_heuristic("ff", {.ground = nullptr, .lifted = file.task, .name = "ff", .watch = watch});
        plans->bind(*space);
    }

    TaskFile file;
    Encoder encoder;
    Network network;
    std::unique_ptr<LiftedSpace> space;
    std::shared_ptr<Heuristic> plans;  // null if the model sees no relaxed plans
    EncodedBatch batch;
    std::unordered_map<std::string_view, int32_t> objects, fluents;
    std::vector<int32_t> atoms, operators, successors, costs;  // buffers
    std::vector<float> q;
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
    if (task->plans) task->plans->bind(*task->space);
}

size_t gsp_successors(gsp_task *task, int32_t state, const int32_t **successors, const int32_t **costs) {
    task->operators.clear();
    task->successors.clear();
    task->costs.clear();
    task->space->load(state);
    task->space->applicable(task->operators);
    for (int32_t op : task->operators) {
        task->successors.push_back(task->space->apply(op));
        task->costs.push_back(task->space->cost(op));
    }
    *successors = task->successors.data();
    *costs = task->costs.data();
    return task->operators.size();
}

gsp_kind gsp_batch_add(gsp_task *task, int32_t state) {
    task->space->load(state);
    if (task->space->is_goal()) return GSP_GOAL;
    task->operators.clear();
    task->space->applicable(task->operators);
    if (task->operators.empty()) return GSP_DEAD_END;
    Rows plan;
    if (task->plans) task->plans->relaxed_plan(state, plan);
    task->encoder.append_state(*task->space, state, task->operators, plan.values, task->batch);
    return GSP_INNER;
}

size_t gsp_batch_messages(const gsp_task *task) { return task->batch.messages(); }

void gsp_batch_clear(gsp_task *task) { task->batch.clear(); }

const int64_t *gsp_batch_action_states(const gsp_task *task, size_t *count) {
    *count = task->batch.action_state.size();
    return task->batch.action_state.data();
}

const float *gsp_batch_q_values(gsp_task *task, size_t *count) {
    task->q = task->network.q_values(task->batch);
    *count = task->q.size();
    return task->q.data();
}
