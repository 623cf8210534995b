// Small tasks as a whole: every reachable state with its transitions, and the least cost from it to a goal.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "state_space.h"

namespace gsp {

class Exhaustion {
public:
    static constexpr int64_t unreachable = std::numeric_limits<int64_t>::max();
    struct Edge {
        int32_t op, successor;
    };
    /// Nothing if there are more states than that, or far more transitions.
    static std::optional<Exhaustion> of(StateSpace &space, size_t max_states);

    /// What leads on from a state; goals have nothing.
    std::span<const Edge> edges(int32_t state) const {
        return std::span(edges_).subspan(begin_[state], begin_[state + 1] - begin_[state]);
    }
    /// From a state to the nearest goal.
    int64_t cost(int32_t state) const { return costs_[state]; }
    /// The same by way of one of its edges.
    int64_t cost(const StateSpace &space, Edge edge) const {
        return cost(edge.successor) == unreachable ? unreachable : space.cost(edge.op) + cost(edge.successor);
    }
    size_t num_states() const { return costs_.size(); }

private:
    Exhaustion() = default;
    bool explore(StateSpace &space, size_t max_states);
    void back_up(const StateSpace &space);

    std::vector<size_t> begin_{0};  // of a state's edges
    std::vector<Edge> edges_;
    std::vector<int64_t> costs_;  // of goals 0, of other states unreachable until they are backed up
};

}  // namespace gsp
