#include "landmark_graph.h"

namespace gsp {

int32_t LandmarkGraph::add(std::vector<Fact> facts, bool in_goal) {
    auto node = static_cast<int32_t>(nodes_.size());
    for (Fact fact : facts) node_of_[task_->fact_id(fact)] = node;
    nodes_.push_back({.facts = std::move(facts), .in_goal = in_goal, .parents = {}, .children = {}});
    return node;
}

void LandmarkGraph::remove(int32_t node) {
    Landmark &gone = nodes_[node];
    for (auto [parent, ordering] : gone.parents) nodes_[parent].children.erase(node);
    for (auto [child, ordering] : gone.children) nodes_[child].parents.erase(node);
    for (Fact fact : gone.facts)
        if (int32_t &place = node_of_[task_->fact_id(fact)]; place == node) place = -1;
    gone = Landmark{};
}

void LandmarkGraph::order(int32_t from, int32_t to, Ordering ordering) {
    Ordering &known = nodes_[from].children.try_emplace(to, ordering).first->second;
    known = std::max(known, ordering);
    nodes_[to].parents[from] = known;
}

void LandmarkGraph::compact() {
    std::vector<int32_t> number(nodes_.size(), -1);
    int32_t count = 0;
    for (size_t n = 0; n < nodes_.size(); ++n)
        if (!removed(static_cast<int32_t>(n))) number[n] = count++;
    auto renumber = [&](std::map<int32_t, Ordering> &orderings) {
        std::map<int32_t, Ordering> renamed;
        for (auto [node, ordering] : orderings) renamed.emplace_hint(renamed.end(), number[node], ordering);
        orderings = std::move(renamed);
    };
    std::erase_if(nodes_, [](const Landmark &landmark) { return landmark.facts.empty(); });
    for (Landmark &landmark : nodes_) {
        renumber(landmark.parents);
        renumber(landmark.children);
    }
    for (int32_t &node : node_of_)
        if (node >= 0) node = number[node];
}

size_t LandmarkGraph::num_disjunctive() const {
    return static_cast<size_t>(std::count_if(nodes_.begin(), nodes_.end(), [](const Landmark &l) { return l.disjunctive(); }));
}

size_t LandmarkGraph::num_orderings() const {
    size_t total = 0;
    for (const Landmark &landmark : nodes_) total += landmark.children.size();
    return total;
}

bool LandmarkGraph::is_cyclic() const {
    // Landmarks without open natural parents are taken away until there is none.
    std::vector<int32_t> open(nodes_.size(), 0), free;
    for (size_t n = 0; n < nodes_.size(); ++n) {
        for (auto [parent, ordering] : nodes_[n].parents) open[n] += ordering >= Ordering::natural;
        if (open[n] == 0) free.push_back(static_cast<int32_t>(n));
    }
    size_t taken = 0;
    for (; !free.empty(); ++taken) {
        int32_t node = free.back();
        free.pop_back();
        for (auto [child, ordering] : nodes_[node].children)
            if (ordering >= Ordering::natural && --open[child] == 0) free.push_back(child);
    }
    return taken < nodes_.size();
}

}  // namespace gsp
