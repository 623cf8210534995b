// Open lists. An entry is a state (eager search) or a state with an operator still to be applied (lazy search).
#pragma once

#include "evaluator.h"

namespace gsp {

struct Entry {
    int32_t state, op;
};

/// What an open list needs to know of an entry to place it.
struct Placement {
    double g;
    const double *slots;
    bool preferred;
};

class OpenList {
public:
    explicit OpenList(bool preferred_only) : preferred_only_(preferred_only) {}
    virtual ~OpenList() = default;

    void insert(Entry entry, const Placement &at) {
        if (!preferred_only_ || at.preferred) do_insert(entry, at);
    }
    virtual Entry pop() = 0;
    virtual bool empty() const = 0;
    virtual void clear() = 0;
    /// True if no value that orders this list calls for keeping the state.
    virtual bool is_dead_end(const Placement &at) const = 0;
    virtual void collect(Leaves &leaves) = 0;
    virtual void boost_preferred() {}
    /// True if only successors by preferred operators get in.
    virtual bool preferred_only() const { return preferred_only_; }
    /// True if an entry that leads to a known state is no expansion: a policy sees where it would go before it goes.
    virtual bool looks_ahead() const { return false; }
    /// True if what is inserted once may come out more than once.
    virtual bool repeats() const { return false; }

protected:
    virtual void do_insert(Entry entry, const Placement &at) = 0;

private:
    bool preferred_only_;
};

using OpenListPtr = std::shared_ptr<OpenList>;

/// Ordered by the evaluators one after another, first in first out among equals.
OpenListPtr make_ordered_open_list(std::vector<EvaluatorPtr> keys, bool preferred_only, bool unsafe_pruning);
/// The best operator of the state inserted last; when it has none left, of the one before: a greedy policy that backtracks.
OpenListPtr make_depth_first_open_list(EvaluatorPtr key);
/// Takes turns; after progress, lists of preferred successors go first for `boost` turns.
OpenListPtr make_alternation_open_list(std::vector<OpenListPtr> lists, int32_t boost);

}  // namespace gsp
