#include "landmark_heuristic.h"

#include "lifted_space.h"
#include "ground_values.h"

namespace gsp {
namespace {

class LandmarkSum final : public Heuristic {
public:
    LandmarkSum(std::shared_ptr<const Landmarks> landmarks, const LandmarkSumOptions &options, std::string name)
        : Heuristic(std::move(name)), landmarks_(std::move(landmarks)), task_(*landmarks_->task), graph_(landmarks_->graph),
          options_(options), status_(task_, graph_, options.progression), is_cyclic_(graph_.is_cyclic()) {
        const int32_t least = task_.operators.empty() ? INT32_MAX : task_.min_cost;
        for (size_t n = 0; n < graph_.size(); ++n) {
            const Landmark &landmark = graph_[static_cast<int32_t>(n)];
            first_costs_.push_back(adjusted(landmark.derived ? least : landmark.first_cost));
            any_costs_.push_back(adjusted(landmark.derived ? least : landmark.any_cost));
        }
    }
    void bind(StateSpace &space) override {
        states_ = values_of(space, task_, landmarks_->atoms);
        if (!states_) throw InputError("evaluator " + name + " cannot take the states of this task");
        status_.clear();
    }
    std::shared_ptr<Heuristic> clone() const override { return std::make_shared<LandmarkSum>(landmarks_, options_, name); }
    /// With axioms, the default values of derived variables are only approximated.
    bool safe() const override { return !task_.has_axioms(); }
    bool path_dependent() const override { return true; }
    void reached(int32_t parent, int32_t state) override {
        if (parent == state) return;
        status_.holding(states_->load(parent), parent_holding_);
        if (!status_.knows(parent)) status_.begin(parent, parent_holding_);
        status_.holding(states_->load(state), holding_);
        status_.progress(parent, parent_holding_, state, holding_);
    }
    void evaluate(std::span<const int32_t> states, double *values) override {
        for (size_t i = 0; i < states.size(); ++i) values[i] = sum(states[i]);
    }
    double evaluate_preferred(int32_t state, std::vector<int32_t> &preferred) override {
        preferred.clear();
        double value = sum(state);
        if (options_.preferred && value != dead_end) prefer(state, preferred);
        return value;
    }

private:
    double adjusted(int32_t cost) const {
        return cost == INT32_MAX ? dead_end : adjusted_cost(cost, options_.cost_type, task_.unit_cost);
    }
    double sum(int32_t state) {
        if (is_cyclic_) return dead_end;
        if (!status_.knows(state)) {
            status_.holding(states_->load(state), holding_);
            status_.begin(state, holding_);
        }
        const uint64_t *past = status_.past(state), *future = status_.future(state);
        double total = 0;
        for (size_t w = 0; w < status_.words(); ++w)
            for (uint64_t open = future[w]; open; open &= open - 1) {
                int bit = std::countr_zero(open);
                total += (past[w] >> bit & 1 ? any_costs_ : first_costs_)[64 * w + static_cast<size_t>(bit)];
            }
        return total;
    }
    void prefer(int32_t state, std::vector<int32_t> &preferred) {
        const uint64_t *future = status_.future(state);
        const int32_t *values = states_->load(state);
        operators_.clear();
        task_.applicable(values, operators_);
        auto helps = [&](const Effect &effect) {
            int32_t node = graph_.node_of(effect.fact);
            return node >= 0 && (future[node / 64] >> (node % 64) & 1) &&
                   std::all_of(effect.conditions.begin(), effect.conditions.end(),
                               [&](Fact fact) { return values[fact.variable] == fact.value; });
        };
        for (int32_t op : operators_) {
            const auto &effects = task_.operators[op].effects;
            if (!std::any_of(effects.begin(), effects.end(), helps)) continue;
            if (int32_t own = states_->applicable(op); own >= 0) preferred.push_back(own);
        }
    }

    std::shared_ptr<const Landmarks> landmarks_;
    const GroundTask &task_;
    const LandmarkGraph &graph_;
    LandmarkSumOptions options_;
    LandmarkStatus status_;
    bool is_cyclic_;
    std::vector<double> first_costs_, any_costs_;
    std::unique_ptr<StateValues> states_;
    LandmarkStatus::Bits holding_, parent_holding_;
    std::vector<int32_t> operators_;
};

class GoalSum final : public Heuristic {
public:
    GoalSum(std::shared_ptr<const LiftedTask> task, CostType cost_type, std::string name)
        : Heuristic(std::move(name)), task_(std::move(task)), cost_type_(cost_type) {
        for (const GroundAtom &atom : task_->goal_positive) positive_.push_back(cheapest(atom, &Schema::add));
        for (const GroundAtom &atom : task_->goal_negative) negative_.push_back(cheapest(atom, &Schema::del));
    }
    void bind(StateSpace &space) override {
        space_ = dynamic_cast<LiftedSpace *>(&space);
        if (!space_) throw InputError("evaluator " + name + " cannot take the states of this task");
    }
    std::shared_ptr<Heuristic> clone() const override { return std::make_shared<GoalSum>(task_, cost_type_, name); }
    void evaluate(std::span<const int32_t> states, double *values) override {
        for (size_t i = 0; i < states.size(); ++i) {
            space_->load(states[i]);
            values[i] = 0;
            for (size_t k = 0; k < positive_.size(); ++k)
                if (!space_->database().holds(space_->goal_positive()[k])) values[i] += positive_[k];
            for (size_t k = 0; k < negative_.size(); ++k)
                if (space_->database().holds(space_->goal_negative()[k])) values[i] += negative_[k];
        }
    }

private:
    double cheapest(const GroundAtom &atom, std::vector<Literal> Schema::*effects) const {
        double least = dead_end;
        for (const Schema &schema : task_->schemas)
            for (const Literal &literal : schema.*effects)
                // Costs that depend on objects count with their constant part.
                if (literal.predicate == atom.predicate)
                    least = std::min<double>(least, adjusted_cost(schema.cost, cost_type_, task_->unit_cost));
        return least;
    }

    std::shared_ptr<const LiftedTask> task_;
    CostType cost_type_;
    LiftedSpace *space_ = nullptr;
    std::vector<double> positive_, negative_;
};

}  // namespace

Landmarks::Landmarks(std::shared_ptr<const GroundTask> source, const LandmarkOptions &options, Watch &watch,
                     const LandmarkLog &log)
    : task(std::move(source)), graph(find_landmarks(*task, options, watch, log)), atoms(fluent_atoms(*task)) {}

std::shared_ptr<Heuristic> make_landmark_sum(std::shared_ptr<const Landmarks> landmarks, const LandmarkSumOptions &options,
                                             std::string name) {
    return std::make_shared<LandmarkSum>(std::move(landmarks), options, std::move(name));
}

std::shared_ptr<Heuristic> make_goal_sum(std::shared_ptr<const LiftedTask> task, CostType cost_type, std::string name) {
    return std::make_shared<GoalSum>(std::move(task), cost_type, std::move(name));
}

}  // namespace gsp
