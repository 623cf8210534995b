#include "encoder.h"

#include <algorithm>

namespace gsp {

RelationKind relation_kind_from(const std::string &name) {
    static const std::pair<const char *, RelationKind> kinds[] = {
        {"state", RelationKind::state},         {"goal", RelationKind::goal},
        {"goal_true", RelationKind::goal_true}, {"goal_any", RelationKind::goal_any},
        {"not_goal", RelationKind::not_goal},   {"not_goal_true", RelationKind::not_goal_true},
        {"not_goal_any", RelationKind::not_goal_any}, {"type", RelationKind::type},
        {"constant", RelationKind::constant},   {"action", RelationKind::action},
        {"plan", RelationKind::plan},           {"added", RelationKind::added}};
    for (auto [known, kind] : kinds)
        if (name == known) return kind;
    throw InputError("unknown kind of relation '" + name + "'");
}

Encoder::Encoder(std::shared_ptr<const LiftedTask> task, std::vector<RelationSpec> relations)
    : task_(std::move(task)), relations_(std::move(relations)), fixed_(relations_.size()),
      state_relation_(task_->predicates.size(), -1), added_relation_(task_->predicates.size(), -1),
      action_relation_(task_->schemas.size(), -1), plan_relation_(task_->schemas.size(), -1) {
    for (auto &table : goal_relation_) table.assign(task_->predicates.size(), -1);
    auto global = static_cast<int32_t>(task_->objects.size());
    for (size_t r = 0; r < relations_.size(); ++r) {
        const RelationSpec &spec = relations_[r];
        auto number = static_cast<int32_t>(r);
        if (spec.symbol < 0) continue;
        auto symbol = static_cast<size_t>(spec.symbol);
        auto set_goal = [&](std::initializer_list<int> tables) {
            for (int t : tables) goal_relation_[t].at(symbol) = number;
        };
        switch (spec.kind) {
        case RelationKind::state: state_relation_.at(symbol) = number; break;
        case RelationKind::goal: set_goal({0}); break;
        case RelationKind::goal_true: set_goal({1}); break;
        case RelationKind::goal_any: set_goal({0, 1}); break;
        case RelationKind::not_goal: set_goal({2}); break;
        case RelationKind::not_goal_true: set_goal({3}); break;
        case RelationKind::not_goal_any: set_goal({2, 3}); break;
        case RelationKind::type: fixed_[r] = task_->type_members.at(symbol); break;
        case RelationKind::constant: fixed_[r] = {spec.symbol}; break;
        case RelationKind::action: action_relation_.at(symbol) = number; break;
        case RelationKind::plan: plan_relation_.at(symbol) = number; break;
        case RelationKind::added: added_relation_.at(symbol) = number; break;
        }
    }
    for (const GroundAtom &atom : task_->init) {
        int32_t r = state_relation_[atom.predicate];
        if (task_->fluent[atom.predicate] || r < 0) continue;
        if (atom.args.empty()) fixed_[r].push_back(global);
        fixed_[r].insert(fixed_[r].end(), atom.args.begin(), atom.args.end());
    }
}

EncodedBatch Encoder::encode(LiftedSpace &space, std::span<const int32_t> states, const Rows &operators, Heuristic *plans) const {
    Rows plan;
    EncodedBatch out = empty_batch();
    for (size_t r = 0; r < relations_.size(); ++r) out.relations[r].reserve(fixed_[r].size() * states.size());
    for (size_t i = 0; i < states.size(); ++i) {
        plan = Rows{};
        if (plans) plans->relaxed_plan(states[i], plan);
        append_state(space, states[i], operators[i], plan.values, out);
    }
    return out;
}

EncodedBatch Encoder::empty_batch() const {
    EncodedBatch out;
    out.relations.resize(relations_.size());
    for (const RelationSpec &spec : relations_) out.arities.push_back(spec.arity);
    return out;
}

void Encoder::append_state(LiftedSpace &space, int32_t state, std::span<const int32_t> operators, std::span<const int32_t> plan,
                           EncodedBatch &out) const {
    auto first = static_cast<int64_t>(out.node_state.size());
    auto number = static_cast<int64_t>(out.state_sizes.size());
    const int64_t first_action = first + static_cast<int64_t>(task_->objects.size()) + 1;
    for (size_t r = 0; r < fixed_.size(); ++r)
        for (int32_t node : fixed_[r]) out.relations[r].push_back(first + node);
    const TupleTable &atoms = space.database().atoms();
    auto encode_atoms = [&](std::span<const int32_t> numbers) {
        for (int32_t atom : numbers)
            if (int32_t r = state_relation_[atoms.symbol(atom)]; r >= 0)
                append(out.relations[r], atoms.args(atom), atoms.count(atom), first);
    };
    encode_atoms(space.atoms(state));
    if (!task_->axioms.empty()) {
        space.load(state);
        encode_atoms(space.derived_atoms());
    }
    encode_goals(space, state, first, out);
    for (size_t k = 0; k < operators.size(); ++k) {
        auto action = space.action(operators[k]);
        int64_t node = first_action + static_cast<int64_t>(k);
        out.action_node.push_back(node);
        out.action_state.push_back(number);
        int32_t r = action_relation_[action[0]];
        if (r < 0) continue;
        out.relations[r].push_back(node);
        for (size_t i = 1; i < action.size(); ++i) out.relations[r].push_back(first + action[i]);
    }
    size_t nodes = task_->objects.size() + 1 + operators.size() + encode_plan(space, state, operators, plan, first, out);
    out.node_state.resize(out.node_state.size() + nodes, number);
    out.state_sizes.push_back(static_cast<float>(nodes));
}

/// Appends the atoms of the relaxed plan: an operator that is applicable stands on the node of its action, or with symmetry on
/// that of the action in its place; the others get nodes of their own, which are counted. What it adds needs no node.
size_t Encoder::encode_plan(LiftedSpace &space, int32_t state, std::span<const int32_t> operators, std::span<const int32_t> plan,
                            int64_t first, EncodedBatch &out) const {
    if (plan.empty()) return 0;
    const int64_t first_action = first + static_cast<int64_t>(task_->objects.size()) + 1;
    size_t extra = 0;
    space.load(state);
    while (!plan.empty()) {
        auto tuple = plan.first(task_->plan_row_size(plan[0]));
        plan = plan.subspan(tuple.size());
        if (tuple[0] < 0) {
            if (int32_t r = added_relation_[~tuple[0]]; r >= 0)
                append(out.relations[r], tuple.data() + 1, tuple.size() - 1, first);
            continue;
        }
        int32_t r = plan_relation_[tuple[0]];
        if (r < 0) continue;
        auto action = operators.end();
        if (space.is_applicable(tuple)) action = std::find(operators.begin(), operators.end(), space.insert_representative(tuple));
        size_t position = action == operators.end() ? operators.size() + extra++ : static_cast<size_t>(action - operators.begin());
        out.relations[r].push_back(first_action + static_cast<int64_t>(position));
        for (size_t i = 1; i < tuple.size(); ++i) out.relations[r].push_back(first + tuple[i]);
    }
    return extra;
}

void Encoder::encode_goals(LiftedSpace &space, int32_t state, int64_t first, EncodedBatch &out) const {
    auto truth = [&](int32_t predicate, int32_t atom) {
        // Derived atoms are those of the current state, which is this one.
        if (!task_->is_stored(predicate)) return space.database().holds(atom);
        auto atoms = space.atoms(state);
        return std::binary_search(atoms.begin(), atoms.end(), atom);
    };
    auto put = [&](const std::vector<GroundAtom> &goals, std::span<const int32_t> ids, bool positive) {
        for (size_t i = 0; i < goals.size(); ++i) {
            const GroundAtom &goal = goals[i];
            bool satisfied = truth(goal.predicate, ids[i]) == positive;
            int32_t r = goal_relation_[(positive ? 0 : 2) + satisfied][goal.predicate];
            if (r >= 0) append(out.relations[r], goal.args.data(), goal.args.size(), first);
        }
    };
    put(task_->goal_positive, space.goal_positive(), true);
    put(task_->goal_negative, space.goal_negative(), false);
}

}  // namespace gsp
