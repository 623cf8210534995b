// A GSP search episode (Algorithm 1 of the paper) that stops whenever it needs Q-values, so that many episodes can share one
// call of the network. It keeps every transition it meets; training takes its states and actions from here.
#pragma once

#include "encoder.h"
#include "evaluator.h"

namespace gsp {

struct EpisodeOptions {
    double weight = 2;           // w in f(s, a) = g(s) + w Q(s, a)
    int64_t budget = 400;        // expansions, that is pairs taken from the frontier
    bool greedy = false;         // the policy: best action of the deepest state first
    bool symmetry = true;
    std::shared_ptr<Heuristic> dead_ends;  // infinite value: a dead end
    std::shared_ptr<Heuristic> guide;      // a second frontier ordered by this heuristic takes every other turn
};

enum class TransitionKind : int8_t { inner, goal, dead_end };

struct Transition {
    int32_t state, action, successor;  // action: position among the applicable actions of the state
    int32_t cost;
    float bound;  // lower bound on the return, -infinity if there is none
    TransitionKind kind;
};

class Episode {
public:
    Episode(std::shared_ptr<const LiftedTask> task, EpisodeOptions options);
    /// A finished episode from what `record` made of it, for the same task; it has states, actions and transitions.
    static std::unique_ptr<Episode> restore(std::shared_ptr<const LiftedTask> task, std::span<const int32_t> record);

    /// Goes on until Q-values of `pending()` are needed (true) or the episode is over (false).
    bool advance();
    int32_t pending() const { return pending_; }
    /// Q(pending(), a) for its actions in order; call advance() next.
    void feed(std::span<const float> q);

    bool solved() const { return plan_length_ >= 0; }
    int64_t expansions() const { return expansions_; }
    int64_t plan_length() const { return plan_length_; }
    const std::vector<Transition> &transitions() const { return transitions_; }
    LiftedSpace &space() { return space_; }
    std::span<const int32_t> actions(int32_t state) const {
        return {actions_.data() + nodes_[state].first_action, nodes_[state].num_actions};
    }
    /// Names of the plan's actions.
    std::vector<std::string> plan() const;
    /// The episode as numbers that mean the same in another process; optionally only the plan with its states.
    std::vector<int32_t> record(bool plan_only);

private:
    struct Node {
        int32_t parent = -1;  // transition that discovered the state
        int32_t depth = 0;
        double g = 0;         // return so far, that is the negated cost
        size_t first_action = 0;
        uint32_t num_actions = 0;
        TransitionKind kind = TransitionKind::inner;
        double guide = 0;
    };
    struct Item {
        double key, second;
        int64_t arrival;
        int32_t state, action;
        bool operator<(const Item &o) const {  // the largest is taken first
            if (key != o.key) return key < o.key;
            if (second != o.second) return second < o.second;
            return arrival > o.arrival;
        }
    };
    bool discover(int32_t state, int32_t parent);
    bool take(Item &item);
    void follow(const Item &item);
    void back_up(int32_t transition);
    std::vector<int32_t> plan_transitions() const;

    LiftedSpace space_;
    EpisodeOptions options_;
    std::vector<Node> nodes_;
    std::vector<int32_t> actions_;
    std::vector<Transition> transitions_;
    std::vector<Item> frontier_, guided_;
    std::vector<std::vector<char>> taken_;  // per state and action; only with two frontiers
    bool guided_turn_ = false, done_ = false;
    size_t own_atoms_ = 0;  // atoms that every space of the task numbers alike
    int64_t arrivals_ = 0, expansions_ = 0, plan_length_ = -1;
    int32_t pending_ = -1, goal_transition_ = -1;
};

}  // namespace gsp
