// Landmarks of a ground task, and orderings between them. A landmark is a fact, or a disjunction of facts, that is true at
// some time in every plan.
#pragma once

#include <map>

#include "ground_task.h"

namespace gsp {

/// A larger one says more: what is ordered greedy-necessarily is ordered naturally too.
enum class Ordering : int32_t { reasonable, natural, greedy_necessary };

struct Landmark {
    std::vector<Fact> facts;  // several: one of them is enough
    bool in_goal = false;
    /// Some fact is derived: then every operator may be what makes the landmark true.
    bool derived = false;
    /// Real costs of the cheapest operator that can make it true for the first time, and at any time; INT32_MAX: none can.
    int32_t first_cost = INT32_MAX, any_cost = INT32_MAX;
    std::map<int32_t, Ordering> parents, children;

    bool disjunctive() const { return facts.size() > 1; }
    bool contains(Fact fact) const { return std::find(facts.begin(), facts.end(), fact) != facts.end(); }
    bool holds(const int32_t *values) const {
        return std::any_of(facts.begin(), facts.end(), [&](Fact f) { return values[f.variable] == f.value; });
    }
};

/// A fact belongs to at most one landmark.
class LandmarkGraph {
public:
    explicit LandmarkGraph(const GroundTask &task) : task_(&task), node_of_(task.num_facts(), -1) {}

    /// The number of the new landmark. Numbers stay until `compact`.
    int32_t add(std::vector<Fact> facts, bool in_goal = false);
    void remove(int32_t node);
    bool removed(int32_t node) const { return nodes_[node].facts.empty(); }
    /// Adds an ordering, or makes a weaker one stronger.
    void order(int32_t from, int32_t to, Ordering ordering);
    /// Gives the landmarks that are left the numbers from 0 on, in their order.
    void compact();

    size_t size() const { return nodes_.size(); }
    Landmark &operator[](int32_t node) { return nodes_[node]; }
    const Landmark &operator[](int32_t node) const { return nodes_[node]; }
    /// The landmark with a fact, or -1.
    int32_t node_of(Fact fact) const { return node_of_[task_->fact_id(fact)]; }
    bool is_atomic(Fact fact) const {
        int32_t node = node_of(fact);
        return node >= 0 && !nodes_[node].disjunctive();
    }
    size_t num_disjunctive() const;
    size_t num_orderings() const;
    /// True if natural orderings form a cycle: then there is no plan.
    bool is_cyclic() const;

private:
    const GroundTask *task_;
    std::vector<Landmark> nodes_;
    std::vector<int32_t> node_of_;  // per fact
};

}  // namespace gsp
