// One best-first search. Eager: an open entry is a state, placed by its own evaluation. Lazy: an open entry is an operator of
// an evaluated state, placed by the evaluation of that state, or by the operator's own value where the heuristic is a
// Q-function. A*, WA*, GBFS, their lazy forms, GSP's searches over state-action pairs and its policy differ in the open list.
#pragma once

#include <memory>

#include "open_list.h"

namespace gsp {

/// An operator that a lazy search applied, and where it led.
struct Step {
    int32_t state, op, successor;
};

struct SearchOptions {
    OpenListPtr open;
    EvaluatorPtr f;  // reports jumps of f, where given
    std::vector<std::shared_ptr<Heuristic>> preferred;
    std::shared_ptr<Heuristic> dead_ends;  // finds dead ends and orders nothing, where given
    bool lazy = false;
    bool reopen = false;
    CostType cost_type = CostType::normal;
    int64_t bound = INT64_MAX;           // on real cost, exclusive
    int64_t max_expansions = INT64_MAX;
    int32_t batch_size = 1;              // entries taken between two evaluations
    bool randomize_successors = false;
    bool preferred_successors_first = false;
    uint64_t seed = 0;
    std::vector<Step> *steps = nullptr;  // gets every step of a lazy search, where given
    std::function<void(const std::string &)> log;
    std::function<void(int64_t expanded, int64_t evaluated, double best)> progress;
};

enum class Outcome { solved, exhausted, time, memory, interrupted, expansions };

struct SearchResult {
    Outcome outcome = Outcome::exhausted;
    bool complete = true;  // exhausted, and what was left out cannot be the beginning of a plan (within the bound)
    bool bounded = false;  // something was pruned by the bound
    std::vector<int32_t> plan;
    int64_t plan_cost = 0;
    int64_t expanded = 0, reopened = 0, evaluated = 0, evaluations = 0, generated = 0, dead_ends = 0;
    int64_t expanded_jump = 0, reopened_jump = 0, evaluated_jump = 0, generated_jump = 0;
    bool jumped = false;
    int64_t registered = 0;
    double seconds = 0;  // of CPU time
    double state_bytes = 0, node_bytes = 0;  // in all
};

/// A search under way. With an awaited heuristic (see evaluator.h) it stops whenever it needs its values, so that many
/// searches can share one call of the network.
class Search {
public:
    virtual ~Search() = default;
    /// Goes on until the Q-values of `awaited()` are needed (true) or the search is over (false).
    virtual bool advance() = 0;
    /// The states that wait, and a row of operators for each.
    virtual std::span<const int32_t> waiting() const = 0;
    virtual const Rows &awaited() const = 0;
    /// Q of the awaited operators, in their order; call advance() next.
    virtual void feed(std::span<const float> q) = 0;
    virtual bool is_dead_end(int32_t state) const = 0;
    virtual const SearchResult &result() const = 0;
};

/// A search from the initial state of a space that has only that state. Throws Stopped when the watch says so.
std::unique_ptr<Search> start_search(StateSpace &space, SearchOptions options, Watch &watch);
/// The same from its start to its end; what the watch says is the outcome.
SearchResult search(StateSpace &space, SearchOptions options, Watch &watch);

}  // namespace gsp
