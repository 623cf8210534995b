#include "exhaustion.h"

#include <queue>

namespace gsp {
namespace {

constexpr size_t most_edges = 16;  // per state, on average

}  // namespace

std::optional<Exhaustion> Exhaustion::of(StateSpace &space, size_t max_states) {
    Exhaustion all;
    if (!all.explore(space, max_states)) return std::nullopt;
    all.back_up(space);
    return all;
}

bool Exhaustion::explore(StateSpace &space, size_t max_states) {
    std::vector<int32_t> operators;
    space.initial_state();
    // States are numbered as they are met.
    for (int32_t state = 0; static_cast<size_t>(state) < space.num_states(); ++state) {
        space.load(state);
        const bool goal = space.is_goal();
        costs_.push_back(goal ? 0 : unreachable);
        operators.clear();
        if (!goal) space.applicable(operators);
        for (int32_t op : operators) {
            space.load(state);
            edges_.push_back({op, space.apply(op)});
        }
        begin_.push_back(edges_.size());
        if (space.num_states() > max_states || edges_.size() > most_edges * max_states) return false;
    }
    return true;
}

void Exhaustion::back_up(const StateSpace &space) {
    std::vector<size_t> begin(num_states() + 1, 0);  // of the edges that lead to a state
    for (const Edge &edge : edges_) ++begin[edge.successor + 1];
    for (size_t state = 0; state < num_states(); ++state) begin[state + 1] += begin[state];
    std::vector<Edge> back(edges_.size());  // with the state that an edge comes from
    std::vector<size_t> next(begin.begin(), begin.end() - 1);
    using Entry = std::pair<int64_t, int32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    for (int32_t state = 0; static_cast<size_t>(state) < num_states(); ++state) {
        for (const Edge &edge : edges(state)) back[next[edge.successor]++] = {edge.op, state};
        if (costs_[state] == 0) open.emplace(0, state);
    }
    while (!open.empty()) {
        auto [cost, state] = open.top();
        open.pop();
        if (cost > costs_[state]) continue;
        for (size_t i = begin[state]; i < begin[state + 1]; ++i) {
            const int64_t more = cost + space.cost(back[i].op);
            int64_t &known = costs_[back[i].successor];
            if (more >= known) continue;
            known = more;
            open.emplace(more, back[i].successor);
        }
    }
}

}  // namespace gsp
