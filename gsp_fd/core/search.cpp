#include "search.h"

#include <algorithm>
#include <cmath>

namespace gsp {
namespace {

enum class Status : uint32_t { fresh, open, closed, dead };

struct Node {
    static constexpr int64_t max_g = int64_t{1} << 30;
    int32_t parent = -1, op = -1;
    uint32_t g : 30 = 0;
    uint32_t status : 2 = 0;
    int32_t real_g = 0;
};

std::string number(double value) {
    if (value == dead_end) return "infinity";
    return std::to_string(std::llround(value));
}

class BestFirst {
public:
    BestFirst(StateSpace &space, const SearchOptions &options, Watch &watch)
        : space_(space), options_(options), watch_(watch), open_(*options.open), random_(options.seed) {
        open_.clear();
        open_.collect(heuristics_);
        if (options.f) options.f->collect(heuristics_);
        for (const auto &heuristic : options.preferred) heuristic->collect(heuristics_);
        for (size_t i = 0; i < heuristics_.size(); ++i) {
            heuristics_[i]->slot = static_cast<int32_t>(i);
            heuristics_[i]->bind(space);
            per_operator_ = per_operator_ || (options.lazy && heuristics_[i]->per_operator());
        }
        best_.assign(heuristics_.size(), dead_end);
        result_.complete = !open_.preferred_only();
        values_ = SegmentedRows<double>(std::max<size_t>(heuristics_.size(), 1));
    }

    ~BestFirst() { space_.set_watch(nullptr); }
    BestFirst(const BestFirst &) = delete;

    SearchResult run() {
        space_.set_watch(&watch_);
        double start = cpu_seconds();
        try {
            if (begin())
                while (step()) {}
        } catch (const Stopped &stopped) {
            finish(stopped.reason == Stop::time ? Outcome::time
                   : stopped.reason == Stop::memory ? Outcome::memory : Outcome::interrupted);
        } catch (const std::bad_alloc &) {
            open_.clear();
            finish(Outcome::memory);
        }
        result_.registered = static_cast<int64_t>(space_.num_states());
        result_.seconds = cpu_seconds() - start;
        result_.state_bytes = static_cast<double>(space_.state_bytes());
        result_.node_bytes = static_cast<double>(nodes_.bytes() + values_.bytes());
        result_.open_bytes = static_cast<double>(open_.bytes());
        return result_;
    }

private:
    /// A state met for the first time in this step, waiting for its evaluation.
    struct Waiting {
        int32_t state;
        bool preferred;
    };

    Status status(int32_t state) { return static_cast<Status>(nodes_[state]->status); }
    void set_status(int32_t state, Status status) { nodes_[state]->status = static_cast<uint32_t>(status); }
    void finish(Outcome outcome) {
        result_.outcome = outcome;
        if (outcome != Outcome::exhausted) result_.complete = false;
    }
    void grow_nodes() {
        while (nodes_.size() < space_.num_states()) {
            *nodes_.push() = Node{};
            values_.push();
        }
    }

    bool begin() {
        initial_ = space_.initial_state();
        grow_nodes();
        space_.load(initial_);
        waiting_.push_back({initial_, true});
        if (options_.lazy && space_.is_goal()) return reached_goal(initial_);
        evaluate_waiting();
        log_initial();
        if (!place_waiting()) log("Initial state is a dead end.");
        return true;
    }
    void log_initial() {
        for (Heuristic *heuristic : heuristics_)
            log("Initial heuristic value for " + heuristic->name + ": " + number(values_[initial_][heuristic->slot]));
    }

    /// Takes a batch from the open list, evaluates what it leads to and places that. False when the search is over.
    bool step() {
        if (options_.progress) report_progress();
        for (int32_t taken = 0; taken < options_.batch_size && !open_.empty();) {
            watch_.throw_if_expired();
            if (result_.expanded >= options_.max_expansions) {
                finish(Outcome::expansions);
                return false;
            }
            Entry entry = open_.pop();
            bool counts = false;
            bool goal = options_.lazy ? follow(entry, counts) : expand(entry.state, counts);
            if (goal) return false;
            taken += counts;
        }
        if (waiting_.empty() && open_.empty()) {
            finish(Outcome::exhausted);
            return false;
        }
        evaluate_waiting();
        place_waiting();
        return true;
    }

    /// Eager: closes a state and generates its successors. True at a goal.
    bool expand(int32_t state, bool &counts) {
        if (status(state) != Status::open) return false;
        counts = true;
        set_status(state, Status::closed);
        space_.load(state);
        if (space_.is_goal()) {
            report_f(state);
            reached_goal(state);
            return true;
        }
        report_f(state);
        ++result_.expanded;
        prefer(state);
        space_.load(state);
        operators_.clear();
        space_.applicable(operators_);
        order_successors();
        for (int32_t op : operators_) generate(state, op);
        return false;
    }
    void generate(int32_t state, int32_t op) {
        const Node parent = *nodes_[state];
        int64_t real_g = int64_t{parent.real_g} + space_.cost(op), next_g = int64_t{parent.g} + adjusted(op);
        if (over_bound(real_g, next_g)) return;
        int32_t successor = space_.apply(op);
        grow_nodes();
        ++result_.generated;
        auto g = static_cast<uint32_t>(next_g);
        Node &node = *nodes_[successor];
        switch (static_cast<Status>(node.status)) {
        case Status::fresh:
            // The same state may be met twice before it is evaluated: the cheaper path wins, it waits once.
            if (node.parent < 0 && successor != initial_) waiting_.push_back({successor, is_preferred(op)});
            else if (g >= node.g || successor == initial_) return;
            node = {state, op, g, node.status, static_cast<int32_t>(real_g)};
            return;
        case Status::dead:
            return;
        case Status::open:
        case Status::closed:
            if (g >= node.g) return;
            if (node.status == static_cast<uint32_t>(Status::closed)) {
                if (!options_.reopen) {
                    // Plans get shorter although the state is not looked at again.
                    node = {state, op, g, node.status, static_cast<int32_t>(real_g)};
                    return;
                }
                ++result_.reopened;
            }
            node = {state, op, g, static_cast<uint32_t>(Status::open), static_cast<int32_t>(real_g)};
            open_.insert({successor, -1}, {double(g), values_[successor], is_preferred(op)});
        }
    }

    /// Lazy: applies an operator of an evaluated state. True at a goal.
    bool follow(Entry entry, bool &counts) {
        const Node parent = *nodes_[entry.state];
        int64_t real_g = int64_t{parent.real_g} + space_.cost(entry.op), next_g = int64_t{parent.g} + adjusted(entry.op);
        if (over_bound(real_g, next_g)) return false;
        space_.load(entry.state);
        int32_t successor = space_.apply(entry.op);
        grow_nodes();
        ++result_.generated;
        auto g = static_cast<uint32_t>(next_g);
        Node &node = *nodes_[successor];
        bool known = successor == initial_ || node.parent >= 0;
        if (per_operator_ && !(known && open_.looks_ahead())) {
            ++result_.expanded;
            counts = true;
        }
        if (known) {
            if (node.status == static_cast<uint32_t>(Status::dead) || !options_.reopen || g >= node.g) return false;
            if (node.status == static_cast<uint32_t>(Status::closed)) ++result_.reopened;
        }
        counts = true;
        bool waits = known && node.status == static_cast<uint32_t>(Status::fresh);
        node = {entry.state, entry.op, g, static_cast<uint32_t>(Status::fresh), static_cast<int32_t>(real_g)};
        space_.load(successor);
        if (space_.is_goal()) return reached_goal(successor), true;
        if (!waits) waiting_.push_back({successor, false});
        return false;
    }

    /// Fills the values of the waiting states, and in a lazy search their operators.
    void evaluate_waiting() {
        batch_.clear();
        for (const Waiting &w : waiting_) batch_.push_back(w.state);
        if (options_.lazy) collect_operators();
        for (Heuristic *heuristic : heuristics_)
            if (heuristic->per_operator() && options_.lazy) evaluate_operators(*heuristic);
            else if (heuristic->batched()) evaluate_batch(*heuristic);
        batch_preferred_ = Rows{};
        for (int32_t state : batch_) {
            watch_.throw_if_expired();
            if (options_.lazy) evaluate_preferred(state);
            for (Heuristic *heuristic : heuristics_) {
                if (heuristic->batched() || (options_.lazy && (heuristic->per_operator() || prefers(heuristic)))) continue;
                heuristic->evaluate({&state, 1}, &values_[state][heuristic->slot]);
                ++result_.evaluations;
            }
            ++result_.evaluated;
        }
    }
    /// Lazy search evaluates a state just before it is expanded, so the preferred operators come with the value.
    void evaluate_preferred(int32_t state) {
        for (const auto &heuristic : options_.preferred) {
            values_[state][heuristic->slot] = heuristic->evaluate_preferred(state, preferred_buffer_);
            ++result_.evaluations;
            batch_preferred_.values.insert(batch_preferred_.values.end(), preferred_buffer_.begin(), preferred_buffer_.end());
        }
        batch_preferred_.close();
    }
    bool prefers(const Heuristic *heuristic) const {
        return std::any_of(options_.preferred.begin(), options_.preferred.end(),
                           [&](const auto &other) { return other.get() == heuristic; });
    }
    void evaluate_batch(Heuristic &heuristic) {
        if (batch_.empty()) return;
        batch_values_.resize(batch_.size());
        heuristic.evaluate(batch_, batch_values_.data());
        result_.evaluations += static_cast<int64_t>(batch_.size());
        for (size_t i = 0; i < batch_.size(); ++i) values_[batch_[i]][heuristic.slot] = batch_values_[i];
    }
    void evaluate_operators(Heuristic &heuristic) {
        if (batch_.empty()) return;
        auto &values = operator_values_[heuristic.slot];
        values.resize(batch_operators_.values.size());
        heuristic.evaluate_operators(batch_, batch_operators_, values.data());
        result_.evaluations += static_cast<int64_t>(batch_.size());
        for (size_t i = 0; i < batch_.size(); ++i) {
            double least = dead_end;
            for (int32_t k = batch_operators_.begin[i]; k < batch_operators_.begin[i + 1]; ++k)
                least = std::min(least, values[k]);
            values_[batch_[i]][heuristic.slot] = least;
        }
    }
    void collect_operators() {
        batch_operators_.begin.assign(1, 0);
        batch_operators_.values.clear();
        operator_values_.resize(heuristics_.size());
        for (int32_t state : batch_) {
            space_.load(state);
            space_.applicable(batch_operators_.values);
            batch_operators_.close();
        }
    }

    /// Puts the evaluated states (eager) or their operators (lazy) on the open list. True if anything was placed.
    bool place_waiting() {
        bool placed = false;
        for (size_t i = 0; i < waiting_.size(); ++i) {
            int32_t state = waiting_[i].state;
            Placement at{double(nodes_[state]->g), values_[state], waiting_[i].preferred};
            if (is_dead_end(at)) {
                set_status(state, Status::dead);
                ++result_.dead_ends;
                continue;
            }
            placed = true;
            report_best(state);
            if (options_.lazy) {
                place_operators(i, state);
            } else {
                set_status(state, Status::open);
                open_.insert({state, -1}, at);
            }
        }
        waiting_.clear();
        return placed;
    }
    void place_operators(size_t index, int32_t state) {
        set_status(state, Status::closed);
        if (!per_operator_) ++result_.expanded;
        set_preferred(batch_preferred_[index]);
        auto row = batch_operators_[index];
        slots_.assign(values_[state], values_[state] + heuristics_.size());
        operators_.assign(row.begin(), row.end());
        if (!per_operator_) order_successors();
        for (size_t k = 0; k < operators_.size(); ++k) {
            for (Heuristic *heuristic : heuristics_)
                if (heuristic->per_operator())
                    slots_[heuristic->slot] = operator_values_[heuristic->slot][batch_operators_.begin[index] + k];
            Placement at{double(nodes_[state]->g), slots_.data(), is_preferred(operators_[k])};
            if (!per_operator_ || !is_dead_end(at)) open_.insert({state, operators_[k]}, at);
        }
    }

    bool is_dead_end(const Placement &at) {
        for (Heuristic *heuristic : heuristics_)
            if (heuristic->safe() && at.slots[heuristic->slot] == dead_end) return true;
        if (!open_.is_dead_end(at)) return false;
        result_.complete = false;
        return true;
    }

    // ---- preferred operators

    /// Eager search: the preferred operators of the state that is being expanded.
    void prefer(int32_t state) {
        preferred_.clear();
        for (const auto &heuristic : options_.preferred) {
            heuristic->evaluate_preferred(state, preferred_buffer_);
            ++result_.evaluations;
            preferred_.insert(preferred_.end(), preferred_buffer_.begin(), preferred_buffer_.end());
        }
        std::sort(preferred_.begin(), preferred_.end());
    }
    void set_preferred(std::span<const int32_t> operators) {
        preferred_.assign(operators.begin(), operators.end());
        std::sort(preferred_.begin(), preferred_.end());
    }
    bool is_preferred(int32_t op) const { return std::binary_search(preferred_.begin(), preferred_.end(), op); }
    void order_successors() {
        if (options_.randomize_successors) std::shuffle(operators_.begin(), operators_.end(), random_);
        if (options_.preferred_successors_first)
            std::stable_partition(operators_.begin(), operators_.end(), [&](int32_t op) { return is_preferred(op); });
    }

    // ---- costs, goals

    int32_t adjusted(int32_t op) const { return adjusted_cost(space_.cost(op), options_.cost_type, space_.unit_cost()); }
    /// Paths that a node has no room for are over the bound, too.
    bool over_bound(int64_t real_g, int64_t g) {
        if (real_g < options_.bound && real_g < INT32_MAX && g < Node::max_g) return false;
        result_.bounded = true;
        return true;
    }
    bool reached_goal(int32_t state) {
        finish(Outcome::solved);
        result_.plan_cost = nodes_[state]->real_g;
        for (int32_t s = state; nodes_[s]->parent >= 0; s = nodes_[s]->parent) result_.plan.push_back(nodes_[s]->op);
        std::reverse(result_.plan.begin(), result_.plan.end());
        // Updated parents of closed states may have made the path cheaper than the node remembers.
        result_.plan_cost = 0;
        for (int32_t op : result_.plan) result_.plan_cost += space_.cost(op);
        return false;
    }

    // ---- reports

    void log(const std::string &line) {
        if (options_.log) options_.log(line);
    }
    void report_best(int32_t state) {
        bool better = false;
        for (Heuristic *heuristic : heuristics_) {
            double value = values_[state][heuristic->slot];
            if (value >= best_[heuristic->slot]) continue;
            best_[heuristic->slot] = value;
            log("New best heuristic value for " + heuristic->name + ": " + number(value));
            better = true;
        }
        if (!better) return;
        log("[g=" + std::to_string(nodes_[state]->g) + ", " + std::to_string(result_.evaluated) + " evaluated, " +
            std::to_string(result_.expanded) + " expanded]");
        open_.boost_preferred();
    }
    void report_f(int32_t state) {
        if (!options_.f) return;
        double f = options_.f->value(double(nodes_[state]->g), values_[state]);
        if (result_.jumped && f <= last_f_) return;
        last_f_ = f;
        result_.jumped = true;
        result_.expanded_jump = result_.expanded;
        result_.reopened_jump = result_.reopened;
        result_.evaluated_jump = result_.evaluated;
        result_.generated_jump = result_.generated;
        log("f = " + number(f) + ", " + std::to_string(result_.evaluated) + " evaluated, " +
            std::to_string(result_.expanded) + " expanded");
    }
    void report_progress() {
        auto now = std::chrono::steady_clock::now();
        if (now < next_report_) return;
        next_report_ = now + std::chrono::milliseconds(200);
        options_.progress(result_.expanded, result_.evaluated, best_.empty() ? 0 : best_[0]);
    }

    StateSpace &space_;
    const SearchOptions &options_;
    Watch &watch_;
    OpenList &open_;
    std::mt19937_64 random_;
    SearchResult result_;

    int32_t initial_ = 0;
    std::vector<Heuristic *> heuristics_;
    bool per_operator_ = false;
    SegmentedRows<Node> nodes_;
    SegmentedRows<double> values_;
    std::vector<Waiting> waiting_;
    std::vector<int32_t> batch_, operators_, preferred_, preferred_buffer_;
    std::vector<double> batch_values_, slots_;
    Rows batch_operators_, batch_preferred_;
    std::vector<std::vector<double>> operator_values_;
    std::vector<double> best_;
    double last_f_ = 0;
    std::chrono::steady_clock::time_point next_report_ = std::chrono::steady_clock::now();
};

}  // namespace

SearchResult search(StateSpace &space, const SearchOptions &options, Watch &watch) {
    return BestFirst(space, options, watch).run();
}

}  // namespace gsp
