#include "evaluator.h"

#include <algorithm>


namespace gsp {

void Heuristic::collect(Leaves &leaves) {
    auto &known = leaves.heuristics;
    if (std::find(known.begin(), known.end(), this) == known.end()) known.push_back(this);
}

namespace {

/// 0 in goal states, the cheapest operator's cost elsewhere.
class Blind final : public Heuristic {
public:
    Blind(CostType cost_type, std::string name) : Heuristic(std::move(name)), cost_type_(cost_type) {}
    void bind(StateSpace &space) override {
        space_ = &space;
        cheapest_ = adjusted_cost(space.min_cost(), cost_type_, space.unit_cost());
    }
    void evaluate(std::span<const int32_t> states, double *values) override {
        for (size_t i = 0; i < states.size(); ++i) {
            space_->load(states[i]);
            values[i] = space_->is_goal() ? 0 : cheapest_;
        }
    }

private:
    CostType cost_type_;
    StateSpace *space_ = nullptr;
    int32_t cheapest_ = 1;
};

class GoalCount final : public Heuristic {
public:
    explicit GoalCount(std::string name) : Heuristic(std::move(name)) {}
    void bind(StateSpace &space) override { space_ = &space; }
    void evaluate(std::span<const int32_t> states, double *values) override {
        for (size_t i = 0; i < states.size(); ++i) {
            space_->load(states[i]);
            values[i] = space_->unsatisfied_goals();
        }
    }

private:
    StateSpace *space_ = nullptr;
};

class Awaited final : public Heuristic {
public:
    Awaited() : Heuristic("q") {}
    void bind(StateSpace &) override {}
    void evaluate(std::span<const int32_t>, double *) override { throw std::logic_error("nobody awaits values of states"); }
    bool per_operator() const override { return true; }
    bool awaited() const override { return true; }
    bool safe() const override { return false; }
};

class G final : public Evaluator {
public:
    double value(double g, const double *) const override { return g; }
    void collect(Leaves &) override {}
};

class Constant final : public Evaluator {
public:
    explicit Constant(double value) : value_(value) {}
    double value(double, const double *) const override { return value_; }
    void collect(Leaves &) override {}

private:
    double value_;
};

class Weighted final : public Evaluator {
public:
    Weighted(EvaluatorPtr evaluator, double weight) : evaluator_(std::move(evaluator)), weight_(weight) {}
    double value(double g, const double *slots) const override {
        double value = evaluator_->value(g, slots);
        return value == dead_end ? dead_end : weight_ * value;
    }
    void collect(Leaves &leaves) override { evaluator_->collect(leaves); }

private:
    EvaluatorPtr evaluator_;
    double weight_;
};

class Combined final : public Evaluator {
public:
    Combined(std::vector<EvaluatorPtr> parts, bool maximum) : parts_(std::move(parts)), maximum_(maximum) {}
    double value(double g, const double *slots) const override {
        double result = 0;
        for (const EvaluatorPtr &part : parts_) {
            double value = part->value(g, slots);
            result = maximum_ ? std::max(result, value) : result + value;
        }
        return result;
    }
    void collect(Leaves &leaves) override {
        for (const EvaluatorPtr &part : parts_) part->collect(leaves);
    }

private:
    std::vector<EvaluatorPtr> parts_;
    bool maximum_;
};

}  // namespace

std::shared_ptr<Heuristic> make_blind(CostType cost_type, std::string name) {
    return std::make_shared<Blind>(cost_type, std::move(name));
}
std::shared_ptr<Heuristic> make_goal_count(std::string name) { return std::make_shared<GoalCount>(std::move(name)); }
std::shared_ptr<Heuristic> make_awaited() { return std::make_shared<Awaited>(); }
EvaluatorPtr make_g() { return std::make_shared<G>(); }
EvaluatorPtr make_constant(double value) { return std::make_shared<Constant>(value); }
EvaluatorPtr make_weighted(EvaluatorPtr evaluator, double weight) {
    return std::make_shared<Weighted>(std::move(evaluator), weight);
}
EvaluatorPtr make_sum(std::vector<EvaluatorPtr> parts) { return std::make_shared<Combined>(std::move(parts), false); }
EvaluatorPtr make_max(std::vector<EvaluatorPtr> parts) { return std::make_shared<Combined>(std::move(parts), true); }

}  // namespace gsp
