// A GSP search episode (Algorithm 1 of the paper): a best-first search that waits for Q-values, so that many episodes can share
// one call of the network, and what training learns from it: its states with their actions, and every transition it took.
#pragma once

#include <limits>
#include <unordered_set>

#include "exhaustion.h"
#include "lifted_space.h"
#include "search.h"

namespace gsp {

struct EpisodeOptions {
    double weight = 2;           // w in f(s, a) = g(s) - w Q(s, a)
    int64_t budget = 400;        // expansions
    bool greedy = false;         // the policy: best action of the deepest state first
    bool symmetry = true;
    std::shared_ptr<Heuristic> dead_ends;  // infinite value: a dead end
    std::shared_ptr<Heuristic> guide;      // WA* with this heuristic finds the plan, not Q; the episode is that plan
    double guide_seconds = std::numeric_limits<double>::infinity();  // of CPU time
    size_t exact_states = 0;               // with a guide: at most so many states are searched exhaustively instead
    std::shared_ptr<Heuristic> plans;      // knows relaxed plans, for encoders that take them
};

enum class TransitionKind : int8_t { inner, goal, dead_end, exact };

struct Transition {
    int32_t state, action, successor;  // action: position among the applicable actions of the state
    int32_t cost;
    float bound;  // lower bound on the return, -infinity if there is none; of exact ones the best return itself
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
    /// Whether the state space was searched exhaustively.
    bool exact() const;
    int64_t expansions() const { return expansions_; }
    int64_t plan_length() const { return plan_length_; }
    const std::vector<Transition> &transitions() const { return transitions_; }
    LiftedSpace &space() { return space_; }
    /// Applicable actions of a state that was neither a goal nor known to be a dead end.
    std::span<const int32_t> actions(int32_t state) const { return actions_.of(state); }
    /// The relaxed plan of such a state, (schema, objects...) one after another; empty if the episode keeps none.
    std::span<const int32_t> relaxed_plan(int32_t state) const { return plans_.of(state); }
    /// Names of the plan's actions.
    std::vector<std::string> plan() const;
    /// The episode as numbers that mean the same in another process; optionally only the plan with its states.
    std::vector<int32_t> record(bool plan_only);

private:
    /// Numbers for some of the states.
    class OfStates {
    public:
        void set(int32_t state, std::span<const int32_t> numbers) {
            if (static_cast<size_t>(state) >= rows_.size()) rows_.resize(state + 1);
            rows_[state] = {numbers_.size(), numbers.size()};
            numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
        }
        std::span<const int32_t> of(int32_t state) const {
            if (static_cast<size_t>(state) >= rows_.size()) return {};
            return {numbers_.data() + rows_[state].first, rows_[state].count};
        }

    private:
        struct Row {
            size_t first = 0, count = 0;
        };
        std::vector<int32_t> numbers_;
        std::vector<Row> rows_;
    };
    Episode(std::shared_ptr<const LiftedTask> task, bool symmetry);
    void follow_guide(const EpisodeOptions &options);
    void follow_plan(LiftedSpace &searched, const SearchResult &result);
    /// An exhausted state space: what its states are called in this one (-1: not met), and those that were taken in.
    struct Exhausted {
        LiftedSpace &searched;
        const Exhaustion &all;
        std::vector<int32_t> own;
        std::unordered_set<int32_t> taken = {};
    };
    /// Walks through the states that lead to a goal, the best way first, and now and then astray, where nothing does: what
    /// all actions of these states are worth is known.
    void walk(LiftedSpace &searched, const Exhaustion &all);
    void take_exact(Exhausted &known, int32_t state);
    /// The applicable actions of a state that is reached for the first time.
    void visit(int32_t state);
    /// Keeps the applicable actions of a state and, where they are wanted, its relaxed plan.
    void keep(int32_t state, std::span<const int32_t> applicable);
    Transition &add(Step step, TransitionKind kind);
    void take_over();
    void take_plan();
    void mark_dead_ends();
    void finish();
    std::vector<int32_t> plan_transitions() const;
    void bound_plan();

    LiftedSpace space_;
    size_t own_atoms_;  // atoms that every space of the task numbers alike
    OfStates actions_, plans_;
    std::vector<Transition> transitions_;
    int64_t expansions_ = 0, plan_length_ = -1;
    int32_t pending_ = -1;

    Watch watch_;                     // never ends anything
    std::vector<Step> steps_;         // those that are no transitions yet
    std::unique_ptr<Search> search_;  // until the episode is over
    std::shared_ptr<Heuristic> planner_;  // of relaxed plans, likewise
};

}  // namespace gsp
