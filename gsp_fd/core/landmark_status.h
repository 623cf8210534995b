// Which landmarks were true on every path to a state, and which must still become true, told from one transition to the next:
// Büchner, Keller, Eriksson and Helmert, "Landmarks Progression in Heuristic Search" (ICAPS 2023).
#pragma once

#include "landmark_graph.h"

namespace gsp {

struct ProgressionOptions {
    bool goals = true, greedy_necessary = true, reasonable = true;
};

/// Landmarks as sets of bits.
class LandmarkStatus {
public:
    using Bits = std::vector<uint64_t>;

    LandmarkStatus(const GroundTask &task, const LandmarkGraph &graph, const ProgressionOptions &options);

    /// The landmarks that are true in a state.
    void holding(const int32_t *values, Bits &out) const;
    bool knows(int32_t state) const { return static_cast<size_t>(state) < rows_.size() && rows_[state][0]; }
    /// A state that a path begins with.
    void begin(int32_t state, const Bits &holding);
    /// A transition between two different states; the first of them is known.
    void progress(int32_t parent, const Bits &parent_holding, int32_t state, const Bits &holding);
    void clear() { rows_ = SegmentedRows<uint64_t>(1 + 2 * words_); }

    size_t words() const { return words_; }
    const uint64_t *past(int32_t state) const { return rows_[state] + 1; }
    const uint64_t *future(int32_t state) const { return rows_[state] + 1 + words_; }

private:
    uint64_t *row(int32_t state);
    void add_future(const Rows &others, const Bits &with_others, const Bits &left_out, const uint64_t *past, uint64_t *future) const;

    const GroundTask &task_;
    const LandmarkGraph &graph_;
    size_t words_;
    std::vector<int32_t> variables_;  // that some landmark mentions
    Bits goals_, with_children_, with_parents_, none_;
    Rows children_, parents_;         // greedy-necessary ones, reasonable ones
    SegmentedRows<uint64_t> rows_;    // 1 if known, past, future
};

}  // namespace gsp
