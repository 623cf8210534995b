// Evaluators: numbers for states, and expressions over them. A heuristic is a leaf with a slot of its own in the table of
// values of a state; everything else is an expression over those slots and g.
#pragma once

#include <limits>

#include "state_space.h"

namespace gsp {

constexpr double dead_end = std::numeric_limits<double>::infinity();

enum class CostType { normal, one, plusone };

inline int32_t adjusted_cost(int32_t cost, CostType type, bool unit_cost) {
    if (type == CostType::normal) return cost;
    if (type == CostType::one || unit_cost) return 1;
    return cost == INT32_MAX ? cost : cost + 1;
}

class Heuristic;
class PathSum;

/// What evaluators are made of, each once.
struct Leaves {
    std::vector<Heuristic *> heuristics;
    std::vector<PathSum *> sums;
};

class Evaluator {
public:
    virtual ~Evaluator() = default;
    /// Value for a state with path cost g whose heuristic values are in `slots`.
    virtual double value(double g, const double *slots) const = 0;
    virtual void collect(Leaves &leaves) = 0;
};

using EvaluatorPtr = std::shared_ptr<Evaluator>;

class Heuristic : public Evaluator {
public:
    explicit Heuristic(std::string name) : name(std::move(name)) {}

    /// Called by a search before its first evaluation.
    virtual void bind(StateSpace &space) = 0;
    /// Values of several states; `dead_end` where no plan exists as far as the heuristic knows.
    virtual void evaluate(std::span<const int32_t> states, double *values) = 0;
    /// The same for one state, with the operators it prefers.
    virtual double evaluate_preferred(int32_t state, std::vector<int32_t> &preferred) {
        preferred.clear();
        double value = 0;
        evaluate({&state, 1}, &value);
        return value;
    }
    /// The same for one state of a lifted space, with the operators of the relaxed plan behind the value as rows
    /// (schema, objects...), each once and in no particular order; none at a dead end. Where actions have conditional effects,
    /// the atoms that the plan makes true follow as rows (~predicate, objects...).
    virtual double relaxed_plan(int32_t /*state*/, Rows & /*plan*/) {
        throw InputError("heuristic " + name + " has no relaxed plans");
    }
    /// States of which a delete relaxation was explored.
    virtual int64_t explorations() const { return 0; }
    /// The same heuristic for use beside this one on another space, or null if there is no such thing.
    virtual std::shared_ptr<Heuristic> clone() const { return nullptr; }
    /// True if several states at once are cheaper than one after another.
    virtual bool batched() const { return false; }
    /// True if every operator of a state has a value of its own (a Q-function); the state's value is the least of them.
    virtual bool per_operator() const { return false; }
    /// Values of the operators of several states, in the order of `operators.values`. Only if per_operator().
    virtual void evaluate_operators(std::span<const int32_t> /*states*/, const Rows & /*operators*/, double * /*values*/) {
        throw std::logic_error("heuristic " + name + " has no values for operators");
    }
    /// True if these values come from whoever runs the search, which stops for them: see Search::advance.
    virtual bool awaited() const { return false; }
    /// True if the value of a state depends on the paths to it. The search tells of every transition that it takes.
    virtual bool path_dependent() const { return false; }
    virtual void reached(int32_t /*parent*/, int32_t /*state*/) {}
    /// True if a dead end is one for sure.
    virtual bool safe() const { return true; }

    double value(double, const double *slots) const override { return slots[slot]; }
    void collect(Leaves &leaves) override;

    const std::string name;
    int32_t slot = 0;  // given by the search
};

std::shared_ptr<Heuristic> make_blind(CostType cost_type, std::string name);
std::shared_ptr<Heuristic> make_goal_count(std::string name);
/// A Q-function whose values come from outside.
std::shared_ptr<Heuristic> make_awaited();
EvaluatorPtr make_g();
EvaluatorPtr make_constant(double value);
EvaluatorPtr make_weighted(EvaluatorPtr evaluator, double weight);
EvaluatorPtr make_sum(std::vector<EvaluatorPtr> parts);
EvaluatorPtr make_max(std::vector<EvaluatorPtr> parts);

}  // namespace gsp
