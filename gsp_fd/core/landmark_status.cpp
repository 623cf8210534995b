#include "landmark_status.h"

namespace gsp {
namespace {

void set(uint64_t *bits, size_t i) { bits[i / 64] |= uint64_t{1} << (i % 64); }
bool test(const uint64_t *bits, size_t i) { return bits[i / 64] >> (i % 64) & 1; }

}  // namespace

LandmarkStatus::LandmarkStatus(const GroundTask &task, const LandmarkGraph &graph, const ProgressionOptions &options)
    : task_(task), graph_(graph), words_((graph.size() + 63) / 64), goals_(words_), with_children_(words_), with_parents_(words_),
      none_(words_) {
    std::vector<char> mentioned(task.variables.size(), 0);
    for (size_t n = 0; n < graph.size(); ++n) {
        const Landmark &landmark = graph[static_cast<int32_t>(n)];
        for (Fact fact : landmark.facts) mentioned[fact.variable] = 1;
        if (landmark.in_goal && options.goals) set(goals_.data(), n);
        if (options.greedy_necessary)
            for (auto [child, ordering] : landmark.children)
                if (ordering == Ordering::greedy_necessary) children_.values.push_back(child);
        if (options.reasonable)
            for (auto [parent, ordering] : landmark.parents)
                if (ordering == Ordering::reasonable) parents_.values.push_back(parent);
        children_.close();
        parents_.close();
        if (!children_[n].empty()) set(with_children_.data(), n);
        if (!parents_[n].empty()) set(with_parents_.data(), n);
    }
    for (size_t v = 0; v < mentioned.size(); ++v)
        if (mentioned[v]) variables_.push_back(static_cast<int32_t>(v));
    clear();
}

void LandmarkStatus::holding(const int32_t *values, Bits &out) const {
    out.assign(words_, 0);
    for (int32_t v : variables_)
        if (int32_t node = graph_.node_of({v, values[v]}); node >= 0) set(out.data(), node);
}

/// Unknown states so far have all landmarks in their past and none in their future: nothing speaks against it yet.
uint64_t *LandmarkStatus::row(int32_t state) {
    while (rows_.size() <= static_cast<size_t>(state)) *rows_.push() = 0;
    uint64_t *row = rows_[state];
    if (!row[0]) {
        row[0] = 1;
        std::fill(row + 1, row + 1 + words_, ~uint64_t{0});
        std::fill(row + 1 + words_, row + 1 + 2 * words_, 0);
    }
    return row;
}

void LandmarkStatus::begin(int32_t state, const Bits &holding) {
    uint64_t *past = row(state) + 1, *future = past + words_;
    for (size_t n = 0; n < graph_.size(); ++n) {
        // What holds and is ordered after something that does not will have to become true again.
        const auto &parents = graph_[static_cast<int32_t>(n)].parents;
        bool again = std::any_of(parents.begin(), parents.end(), [&](auto entry) { return !test(holding.data(), entry.first); });
        if (!test(holding.data(), n) || again) set(future, n);
    }
    for (size_t w = 0; w < words_; ++w) past[w] &= holding[w];
}

void LandmarkStatus::progress(int32_t parent, const Bits &parent_holding, int32_t state, const Bits &holding) {
    uint64_t *past = row(state) + 1, *future = past + words_;
    const uint64_t *parent_past = this->past(parent), *parent_future = this->future(parent);
    for (size_t w = 0; w < words_; ++w) {
        // What the transition does not make true stays in the future, and out of the past.
        past[w] &= ~(parent_future[w] & ~holding[w] & ~parent_past[w]);
        future[w] |= parent_future[w] & (~holding[w] | parent_holding[w]);
        future[w] |= goals_[w] & ~holding[w];
    }
    add_future(children_, with_children_, holding, past, future);
    add_future(parents_, with_parents_, none_, past, future);
}

/// Landmarks with some other one that was not true yet: they will have to become true, if they are not left out.
void LandmarkStatus::add_future(const Rows &others, const Bits &with_others, const Bits &left_out, const uint64_t *past,
                                uint64_t *future) const {
    for (size_t w = 0; w < words_; ++w)
        for (uint64_t open = with_others[w] & ~left_out[w] & ~future[w]; open; open &= open - 1) {
            size_t n = 64 * w + static_cast<size_t>(std::countr_zero(open));
            auto row = others[n];
            if (std::any_of(row.begin(), row.end(), [&](int32_t other) { return !test(past, other); })) set(future, n);
        }
}

}  // namespace gsp
