#include "episode.h"

#include <algorithm>
#include <limits>

namespace gsp {

Episode::Episode(std::shared_ptr<const LiftedTask> task, EpisodeOptions options)
    : space_(std::move(task), options.symmetry), options_(std::move(options)) {
    int32_t initial = space_.initial_state();
    own_atoms_ = space_.database().atoms().size();
    for (auto *heuristic : {&options_.dead_ends, &options_.guide}) {
        if (!*heuristic) continue;
        *heuristic = (*heuristic)->clone();  // many episodes run side by side
        if (!*heuristic) throw InputError("this heuristic cannot serve several episodes at once");
        (*heuristic)->bind(space_);
    }
    if (discover(initial, -1)) pending_ = initial;
    else done_ = true;
    if (nodes_[initial].kind == TransitionKind::goal) plan_length_ = 0;
}

/// Sets up the node of a new state. True if its actions are to be evaluated.
bool Episode::discover(int32_t state, int32_t parent) {
    nodes_.resize(space_.num_states());
    Node &node = nodes_[state];
    node.parent = parent;
    if (parent >= 0) {
        const Transition &t = transitions_[parent];
        node.depth = nodes_[t.state].depth + 1;
        node.g = nodes_[t.state].g - t.cost;
    }
    space_.load(state);
    node.first_action = actions_.size();
    if (space_.is_goal()) {
        node.kind = TransitionKind::goal;
        return false;
    }
    double value = 0;
    if (options_.dead_ends) options_.dead_ends->evaluate({&state, 1}, &value);
    if (value == dead_end) {
        node.kind = TransitionKind::dead_end;
        return false;
    }
    if (options_.guide) options_.guide->evaluate({&state, 1}, &node.guide);
    space_.load(state);
    space_.applicable(actions_);
    node.num_actions = static_cast<uint32_t>(actions_.size() - node.first_action);
    if (node.num_actions == 0) node.kind = TransitionKind::dead_end;
    return node.num_actions > 0;
}

void Episode::feed(std::span<const float> q) {
    if (pending_ < 0) throw InputError("the episode waits for no Q-values");
    const Node &node = nodes_[pending_];
    if (q.size() != node.num_actions) throw InputError("one Q-value per action is needed");
    if (options_.guide) {
        taken_.resize(nodes_.size());
        taken_[pending_].assign(q.size(), 0);
    }
    for (size_t a = 0; a < q.size(); ++a) {
        double value = q[a];
        Item item{node.g + options_.weight * value, 0, arrivals_++, pending_, static_cast<int32_t>(a)};
        if (options_.greedy) item.key = node.depth, item.second = value;
        frontier_.push_back(item);
        std::push_heap(frontier_.begin(), frontier_.end());
        if (!options_.guide) continue;
        item.key = -node.guide;
        item.second = value;
        guided_.push_back(item);
        std::push_heap(guided_.begin(), guided_.end());
    }
    pending_ = -1;
}

bool Episode::take(Item &item) {
    while (true) {
        guided_turn_ = options_.guide && !guided_turn_;
        auto *frontier = guided_turn_ ? &guided_ : &frontier_;
        if (frontier->empty()) frontier = guided_turn_ ? &frontier_ : &guided_;
        if (frontier->empty()) return false;
        std::pop_heap(frontier->begin(), frontier->end());
        item = frontier->back();
        frontier->pop_back();
        if (!options_.guide) return true;
        char &taken = taken_[item.state][item.action];
        if (taken) continue;
        taken = 1;
        return true;
    }
}

bool Episode::advance() {
    if (pending_ >= 0) return true;
    Item item{};
    while (!done_) {
        if (expansions_ >= options_.budget || !take(item)) {
            done_ = true;
            break;
        }
        follow(item);
        if (pending_ >= 0) return true;
    }
    return false;
}

void Episode::follow(const Item &item) {
    ++expansions_;
    int32_t op = actions(item.state)[item.action];
    auto known = static_cast<int32_t>(space_.num_states());
    space_.load(item.state);
    int32_t successor = space_.apply(op);
    auto number = static_cast<int32_t>(transitions_.size());
    transitions_.push_back({item.state, item.action, successor, space_.cost(op),
                            -std::numeric_limits<float>::infinity(), TransitionKind::inner});
    if (successor >= known && discover(successor, number)) pending_ = successor;
    transitions_.back().kind = nodes_[successor].kind;
    if (nodes_[successor].kind == TransitionKind::goal) back_up(number);
}

/// Gives every transition on the path its return, a lower bound on what can be had from there.
void Episode::back_up(int32_t transition) {
    done_ = true;
    goal_transition_ = transition;
    plan_length_ = 0;
    float bound = 0;
    for (int32_t t = transition; t >= 0; t = nodes_[transitions_[t].state].parent) {
        bound -= static_cast<float>(transitions_[t].cost);
        transitions_[t].bound = bound;
        ++plan_length_;
    }
}

std::vector<int32_t> Episode::plan_transitions() const {
    std::vector<int32_t> path;
    for (int32_t t = goal_transition_; t >= 0; t = nodes_[transitions_[t].state].parent) path.push_back(t);
    std::reverse(path.begin(), path.end());
    return path;
}

std::vector<std::string> Episode::plan() const {
    std::vector<std::string> names;
    for (int32_t t : plan_transitions())
        names.push_back(space_.operator_name(actions(transitions_[t].state)[transitions_[t].action]));
    return names;
}

}  // namespace gsp
