// States with their applicable actions as index tensors for the relational network. Training and planning both call this.
//
// Nodes of one state: its objects, one global node (nullary atoms are unary atoms on it), one node per action and, for models
// that see the relaxed plan, one per operator of it that is none of these actions. A batch is one large graph: the nodes of the
// states one after another. A relation is an [n, arity] array of node numbers.
#pragma once

#include <algorithm>

#include "evaluator.h"
#include "lifted_space.h"

namespace gsp {

enum class RelationKind { state, goal, goal_true, goal_any, not_goal, not_goal_true, not_goal_any, type, constant, action, plan, added };

/// A kind by its name above; InputError if there is none of that name.
RelationKind relation_kind_from(const std::string &name);

/// What a relation of the model holds: atoms of a predicate, members of a type, a constant, or instances of a schema among the
/// actions or in the relaxed plan; added: atoms of a predicate that the relaxed plan makes true.
/// symbol: number of the predicate, type, object or schema in the task; -1 if the task has none (the relation stays empty).
struct RelationSpec {
    RelationKind kind;
    int32_t symbol;
    int32_t arity;  // columns
};

struct EncodedBatch {
    std::vector<std::vector<int64_t>> relations;       // row after row
    std::vector<int32_t> arities;
    std::vector<int64_t> node_state, action_node, action_state;
    std::vector<float> state_sizes;                    // nodes per state

    /// Arguments of all atoms.
    size_t messages() const {
        size_t count = 0;
        for (const auto &relation : relations) count += relation.size();
        return count;
    }
    /// Takes all states out.
    void clear() {
        for (auto &relation : relations) relation.clear();
        for (auto *array : {&node_state, &action_node, &action_state}) array->clear();
        state_sizes.clear();
    }
};

class Encoder {
public:
    Encoder(std::shared_ptr<const LiftedTask> task, std::vector<RelationSpec> relations);

    const LiftedTask &task() const { return *task_; }
    size_t relations() const { return relations_.size(); }
    /// Whether states are encoded with their relaxed plans.
    bool takes_plans() const {
        return std::any_of(plan_relation_.begin(), plan_relation_.end(), [](int32_t relation) { return relation >= 0; });
    }
    /// Row i of `operators` are the actions of states[i] that get a node, in this order; `plans` is bound to the space and
    /// knows the relaxed plans, for an encoder that takes them.
    EncodedBatch encode(LiftedSpace &space, std::span<const int32_t> states, const Rows &operators, Heuristic *plans) const;
    /// A batch without states, and one more state of any space of this encoder's task for it: a batch may mix tasks.
    EncodedBatch empty_batch() const;
    /// plan: operators of the state's relaxed plan, (schema, objects...) one after another, and what it adds, (~predicate, objects...).
    void append_state(LiftedSpace &space, int32_t state, std::span<const int32_t> operators, std::span<const int32_t> plan,
                      EncodedBatch &out) const;

private:
    size_t encode_plan(LiftedSpace &space, int32_t state, std::span<const int32_t> operators, std::span<const int32_t> plan,
                       int64_t first, EncodedBatch &out) const;
    void encode_goals(LiftedSpace &space, int32_t state, int64_t first, EncodedBatch &out) const;
    /// Appends an atom over nodes; a nullary one goes to the global node.
    void append(std::vector<int64_t> &rows, const int32_t *args, size_t count, int64_t first) const {
        if (count == 0) rows.push_back(first + static_cast<int64_t>(task_->objects.size()));
        for (size_t i = 0; i < count; ++i) rows.push_back(first + args[i]);
    }

    std::shared_ptr<const LiftedTask> task_;
    std::vector<RelationSpec> relations_;
    std::vector<std::vector<int32_t>> fixed_;          // per relation: nodes of rows that no action changes
    std::vector<int32_t> state_relation_, added_relation_;  // by predicate, -1 for none
    std::vector<int32_t> action_relation_, plan_relation_;  // by schema
    std::vector<int32_t> goal_relation_[4];            // by predicate: goal, goal_true, not_goal, not_goal_true
};

}  // namespace gsp
