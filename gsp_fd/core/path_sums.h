// Numbers of paths rather than of states: what the operators of a path add up to, by how each ranks among those of its state.
// They need the values of operators, so only lazy searches know them. A search has them in slots after those of heuristics.
#pragma once

#include "open_list.h"

namespace gsp {

class PathSum : public Evaluator {
public:
    PathSum(std::string name, std::shared_ptr<Heuristic> q);

    /// What the operators of a state add, each in its place; values: what the Q-function has for them.
    virtual void steps(std::span<const double> values, std::span<double> out) const = 0;
    const Heuristic *q() const { return q_.get(); }
    double value(double, const double *slots) const override { return slots[slot]; }
    void collect(Leaves &leaves) override;

    const std::string name;
    int32_t slot = 0;  // given by the search

private:
    std::shared_ptr<Heuristic> q_;  // null if the sum needs none
};

/// The number of operators on the path.
std::shared_ptr<PathSum> make_depth();
/// Σ max_a Q(s, a) - Q(s, a_taken): 0 on the path of the greedy policy.
std::shared_ptr<PathSum> make_regret(std::shared_ptr<Heuristic> q);
/// -log π(path) of the policy π(a | s) ~ exp(Q(s, a) / temperature).
std::shared_ptr<PathSum> make_surprise(std::shared_ptr<Heuristic> q, double temperature);

enum class PolicyGuide { levin, phs, phs_star };
/// Orseau and Lelis (2021), as logarithms: d / π (Levin tree search), (d + h) / π (PHS_h) and (d + h) / π^(1 + h / d) (PHS*),
/// where d counts the operators of a path, and h, of the pair that ends it, its last operator too. h is null for levin.
EvaluatorPtr make_policy_guided(PolicyGuide guide, std::shared_ptr<Heuristic> q, EvaluatorPtr h, double temperature);

/// The sums of a search: those of its states are in their slots, those of pairs that wait are here.
class PathSums {
public:
    PathSums() = default;
    /// Gives slots to the sums.
    PathSums(const Leaves &leaves, bool lazy);

    /// The sums of the initial state.
    void start(double *slots) const;
    /// Takes in the operators of a state with these slots; their values begin at `first` for every heuristic.
    void add(int32_t state, std::span<const int32_t> operators, size_t first,
             const std::vector<std::vector<double>> &operator_values, const double *slots);
    /// Copies the sums of a pair into its slots: of the k-th operator of the state, or of one whose place is not known.
    void get(int32_t state, size_t k, double *slots) const;
    void get(Entry pair, double *slots) const;
    size_t bytes() const;

private:
    struct Row {
        size_t first = 0, count = 0;
    };
    std::vector<PathSum *> sums_;
    std::vector<Row> rows_;  // by state, in what follows
    std::vector<int32_t> operators_;
    std::vector<std::vector<double>> values_;  // of every sum
};

}  // namespace gsp
