#include "path_sums.h"

#include <algorithm>
#include <cmath>

namespace gsp {

PathSum::PathSum(std::string name, std::shared_ptr<Heuristic> q) : name(std::move(name)), q_(std::move(q)) {
    if (q_ && !q_->per_operator())
        throw InputError("evaluator " + this->name + " needs values of actions, such as those of gsp(); " + q_->name +
                         " has values of states");
}

void PathSum::collect(Leaves &leaves) {
    if (q_) q_->collect(leaves);
    if (std::find(leaves.sums.begin(), leaves.sums.end(), this) == leaves.sums.end()) leaves.sums.push_back(this);
}

namespace {

class Depth final : public PathSum {
public:
    Depth() : PathSum("depth", nullptr) {}
    void steps(std::span<const double>, std::span<double> out) const override { std::fill(out.begin(), out.end(), 1); }
};

class Regret final : public PathSum {
public:
    explicit Regret(std::shared_ptr<Heuristic> q) : PathSum("regret", std::move(q)) {}
    void steps(std::span<const double> values, std::span<double> out) const override {
        double least = *std::min_element(values.begin(), values.end());
        std::transform(values.begin(), values.end(), out.begin(), [&](double value) { return value - least; });
    }
};

class Surprise final : public PathSum {
public:
    Surprise(std::shared_ptr<Heuristic> q, double temperature) : PathSum("policy", std::move(q)), temperature_(temperature) {
        if (!(temperature > 0)) throw InputError("the temperature of a policy must be greater than 0");
    }
    void steps(std::span<const double> values, std::span<double> out) const override {
        double least = *std::min_element(values.begin(), values.end()), sum = 0;
        for (double value : values) sum += std::exp((least - value) / temperature_);
        // Too unlikely for a number is still no dead end.
        auto of = [&](double value) { return std::min((value - least) / temperature_ + std::log(sum), 1e100); };
        std::transform(values.begin(), values.end(), out.begin(), of);
    }

private:
    double temperature_;
};

class PolicyGuided final : public Evaluator {
public:
    PolicyGuided(PolicyGuide guide, std::shared_ptr<Heuristic> q, EvaluatorPtr h, double temperature)
        : guide_(guide), h_(std::move(h)), depth_(make_depth()), surprise_(make_surprise(std::move(q), temperature)) {}
    double value(double g, const double *slots) const override {
        // A state without a pair is only asked whether it is a dead end; the initial one has depth 0.
        double depth = std::max(depth_->value(g, slots), 1.0), surprise = surprise_->value(g, slots);
        if (guide_ == PolicyGuide::levin) return std::log(depth) + surprise;
        double h = h_->value(g, slots);
        if (h == dead_end) return dead_end;
        double length = std::max(depth - 1 + h, depth);
        return std::log(length) + (guide_ == PolicyGuide::phs ? 1 : length / depth) * surprise;
    }
    void collect(Leaves &leaves) override {
        if (h_) h_->collect(leaves);
        depth_->collect(leaves);
        surprise_->collect(leaves);
    }

private:
    PolicyGuide guide_;
    EvaluatorPtr h_;
    std::shared_ptr<PathSum> depth_, surprise_;
};

}  // namespace

std::shared_ptr<PathSum> make_depth() { return std::make_shared<Depth>(); }
std::shared_ptr<PathSum> make_regret(std::shared_ptr<Heuristic> q) { return std::make_shared<Regret>(std::move(q)); }
std::shared_ptr<PathSum> make_surprise(std::shared_ptr<Heuristic> q, double temperature) {
    return std::make_shared<Surprise>(std::move(q), temperature);
}
EvaluatorPtr make_policy_guided(PolicyGuide guide, std::shared_ptr<Heuristic> q, EvaluatorPtr h, double temperature) {
    return std::make_shared<PolicyGuided>(guide, std::move(q), std::move(h), temperature);
}

PathSums::PathSums(const Leaves &leaves, bool lazy) : sums_(leaves.sums), values_(leaves.sums.size()) {
    for (size_t i = 0; i < sums_.size(); ++i) {
        if (!lazy) throw InputError("evaluator " + sums_[i]->name + " is for lazy searches: others know no values of actions");
        sums_[i]->slot = static_cast<int32_t>(leaves.heuristics.size() + i);
    }
}

void PathSums::start(double *slots) const {
    for (const PathSum *sum : sums_) slots[sum->slot] = 0;
}

void PathSums::add(int32_t state, std::span<const int32_t> operators, size_t first,
                   const std::vector<std::vector<double>> &operator_values, const double *slots) {
    if (sums_.empty()) return;
    if (static_cast<size_t>(state) >= rows_.size()) rows_.resize(state + 1);
    rows_[state] = {operators_.size(), operators.size()};
    if (operators.empty()) return;
    operators_.insert(operators_.end(), operators.begin(), operators.end());
    for (size_t i = 0; i < sums_.size(); ++i) {
        values_[i].resize(operators_.size());
        std::span<double> out(values_[i].data() + rows_[state].first, operators.size());
        std::span<const double> values;
        if (const Heuristic *q = sums_[i]->q()) values = {operator_values[q->slot].data() + first, operators.size()};
        sums_[i]->steps(values, out);
        for (double &value : out) value += slots[sums_[i]->slot];
    }
}

void PathSums::get(int32_t state, size_t k, double *slots) const {
    for (size_t i = 0; i < sums_.size(); ++i) slots[sums_[i]->slot] = values_[i][rows_[state].first + k];
}

void PathSums::get(Entry pair, double *slots) const {
    if (sums_.empty()) return;
    auto begin = operators_.begin() + static_cast<std::ptrdiff_t>(rows_[pair.state].first);
    auto end = begin + static_cast<std::ptrdiff_t>(rows_[pair.state].count);
    get(pair.state, static_cast<size_t>(std::find(begin, end, pair.op) - begin), slots);
}

size_t PathSums::bytes() const {
    return rows_.capacity() * sizeof(Row) + operators_.capacity() * (sizeof(int32_t) + sums_.size() * sizeof(double));
}

}  // namespace gsp
