#include "search.h"

#include <algorithm>
#include <random>
#include <unordered_set>

#include "path_sums.h"
#include "search_reports.h"

namespace gsp {
namespace {

enum class Status : uint32_t { fresh, open, closed, dead };

struct Node {
    static constexpr int64_t max_g = INT32_MAX;
    static constexpr size_t max_operators = size_t{1} << 29;
    int32_t parent = -1;
    int32_t op : 30 = -1;
    uint32_t status : 2 = 0;
    int32_t g = 0, real_g = 0;
};
static_assert(sizeof(Node) == 16);

class BestFirst final : public Search {
public:
    BestFirst(StateSpace &space, SearchOptions options, Watch &watch)
        : space_(space), options_(std::move(options)), watch_(watch), open_(*options_.open), random_(options_.seed),
          initial_(space.initial_state()) {
        open_.clear();
        open_.collect(leaves_);
        if (options_.f) options_.f->collect(leaves_);
        for (const auto &heuristic : options_.preferred) heuristic->collect(leaves_);
        if (options_.dead_ends) options_.dead_ends->collect(leaves_);
        for (size_t i = 0; i < heuristics_.size(); ++i) {
            heuristics_[i]->slot = static_cast<int32_t>(i);
            heuristics_[i]->bind(space);
            if (heuristics_[i]->path_dependent()) path_dependent_.push_back(heuristics_[i]);
            per_operator_ = per_operator_ || (options_.lazy && heuristics_[i]->per_operator());
        }
        // Each pair is an expansion of its own, and taking it again from another list of an alternation leads to nothing
        // new: so it is taken once, in the planner as in training. Without a Q-function it is taken from every list and
        // costs nothing, as in Fast Downward.
        each_once_ = per_operator_ && open_.repeats();
        sums_ = PathSums(leaves_, options_.lazy);
        result_.complete = !open_.preferred_only();
        values_ = SegmentedRows<double>(std::max<size_t>(num_slots(), 1));
        operator_values_.resize(heuristics_.size());
        space_.set_watch(&watch_);
    }

    ~BestFirst() override { space_.set_watch(nullptr); }
    BestFirst(const BestFirst &) = delete;

    bool advance() override {
        if (nodes_.size() == 0) begin();
        while (!over_ && !awaits_) {
            place_waiting();
            if (take()) evaluate_waiting();
        }
        return awaits_;
    }
    std::span<const int32_t> waiting() const override { return batch_; }
    const Rows &awaited() const override { return batch_operators_; }
    void feed(std::span<const float> q) override {
        if (!awaits_) throw InputError("the search waits for no Q-values");
        if (q.size() != batch_operators_.values.size()) throw InputError("one Q-value per action is needed");
        for (Heuristic *heuristic : heuristics_)
            if (heuristic->awaited()) {
                std::transform(q.begin(), q.end(), operator_values_[heuristic->slot].begin(), [](float value) {
                    if (!std::isfinite(value)) throw InputError("the network yields Q-values that are no numbers");
                    return -double(value);
                });
                take_least(*heuristic);
            }
        awaits_ = false;
    }
    bool is_dead_end(int32_t state) const override {
        return nodes_[state]->status == static_cast<uint32_t>(Status::dead);
    }
    const SearchResult &result() const override { return result_; }

    SearchResult run() {
        double start = cpu_seconds();
        try {
            if (advance()) throw std::logic_error("nobody hands in the values that this search awaits");
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
        result_.node_bytes = static_cast<double>(nodes_.bytes() + values_.bytes() + sums_.bytes());
        return result_;
    }

private:
    /// A state met for the first time in this step, waiting for its evaluation.
    struct Waiting {
        int32_t state;
        bool preferred;
    };

    size_t num_slots() const { return heuristics_.size() + leaves_.sums.size(); }
    Status status(int32_t state) { return static_cast<Status>(nodes_[state]->status); }
    void set_status(int32_t state, Status status) { nodes_[state]->status = static_cast<uint32_t>(status); }
    void finish(Outcome outcome) {
        over_ = true;
        result_.outcome = outcome;
        if (outcome != Outcome::exhausted || (result_.bounded && gave_up_)) result_.complete = false;
    }
    void grow_nodes() {
        if (space_.num_operators() > Node::max_operators) throw std::bad_alloc();
        while (nodes_.size() < space_.num_states()) {
            *nodes_.push() = Node{};
            values_.push();
        }
    }

    void begin() {
        grow_nodes();
        sums_.start(values_[initial_]);
        space_.load(initial_);
        waiting_.push_back({initial_, true});
        const bool hopeless = over_bound(0, 0);
        if (options_.lazy && space_.is_goal() && !hopeless) return reached_goal(initial_);
        evaluate_waiting();
        reports_.initial(values_[initial_]);
        if (!hopeless) return;
        waiting_.clear();
        finish(Outcome::exhausted);
    }

    /// Takes a batch from the open list and looks where it leads. False when the search is over.
    bool take() {
        reports_.progress();
        for (int32_t taken = 0; taken < options_.batch_size && !open_.empty();) {
            watch_.throw_if_expired();
            if (result_.expanded >= options_.max_expansions) {
                finish(Outcome::expansions);
                return false;
            }
            Entry entry = open_.pop();
            if (each_once_ && !taken_.insert(number_of(entry.state, entry.op)).second) continue;
            if (is_early(entry)) break;
            taken += options_.lazy ? follow(entry) : expand(entry.state);
            if (over_) return false;
        }
        if (waiting_.empty() && open_.empty()) finish(Outcome::exhausted);
        return !over_;
    }
    /// With f, a goal counts only when nothing that waits could be cheaper: batches find the plans that single states do.
    bool is_early(Entry entry) {
        if (!options_.f || options_.lazy || waiting_.empty() || status(entry.state) != Status::open) return false;
        space_.load(entry.state);
        if (!space_.is_goal()) return false;
        open_.insert(entry, {double(nodes_[entry.state]->g), values_[entry.state], true});
        return true;
    }
    static int64_t number_of(int32_t state, int32_t op) { return (int64_t{state} << 32) | op; }

    /// Eager: closes a state and generates its successors. True if that is an entry of the batch.
    bool expand(int32_t state) {
        if (status(state) != Status::open) return false;
        set_status(state, Status::closed);
        space_.load(state);
        reports_.f(nodes_[state]->g, values_[state]);
        if (space_.is_goal()) return reached_goal(state), true;
        ++result_.expanded;
        prefer(state);
        space_.load(state);
        operators_.clear();
        space_.applicable(operators_);
        order_successors();
        for (int32_t op : operators_) generate(state, op);
        return true;
    }
    void generate(int32_t state, int32_t op) {
        const Node parent = *nodes_[state];
        int64_t real_g = int64_t{parent.real_g} + space_.cost(op), next_g = int64_t{parent.g} + adjusted(op);
        if (over_bound(real_g, next_g)) return;
        int32_t successor = space_.apply(op);
        grow_nodes();
        ++result_.generated;
        if (tell_of(state, successor)) space_.load(state);
        auto g = static_cast<int32_t>(next_g);
        Node &node = *nodes_[successor];
        switch (static_cast<Status>(node.status)) {
        case Status::fresh:
            // The same state may be met twice before it is evaluated: the cheaper path wins, it waits once.
            if (node.parent < 0 && successor != initial_) waiting_.push_back({successor, is_preferred(op)});
            else if (g >= node.g || successor == initial_) return give_up(real_g, node.real_g);
            else give_up(node.real_g, real_g);
            node = {state, op, node.status, g, static_cast<int32_t>(real_g)};
            return;
        case Status::dead:
            return;
        case Status::open:
        case Status::closed:
            if (g >= node.g) return give_up(real_g, node.real_g);
            give_up(node.real_g, real_g);
            if (node.status == static_cast<uint32_t>(Status::closed)) {
                if (!options_.reopen) {
                    give_up(real_g, node.real_g);
                    // Plans get shorter although the state is not looked at again.
                    node = {state, op, node.status, g, static_cast<int32_t>(real_g)};
                    return;
                }
                ++result_.reopened;
            }
            node = {state, op, static_cast<uint32_t>(Status::open), g, static_cast<int32_t>(real_g)};
            for (Heuristic *heuristic : path_dependent_) heuristic->evaluate({&successor, 1}, &values_[successor][heuristic->slot]);
            if (!path_dependent_.empty()) space_.load(state);
            open_.insert({successor, -1}, {double(g), values_[successor], is_preferred(op)});
        }
    }

    /// Of two paths to a state one is not followed. If it is the cheaper one, the bound, which is on real cost, may strike later
    /// on the other, and finding no plan proves nothing.
    void give_up(int64_t lost, int64_t kept) { gave_up_ = gave_up_ || lost < kept; }
    bool is_known(int32_t state) { return state == initial_ || nodes_[state]->parent >= 0; }
    /// Lazy: whether another path, of cost g, to a known state is of no use.
    bool leads_nowhere(int32_t state, int64_t g) {
        const Node &node = *nodes_[state];
        return node.status == static_cast<uint32_t>(Status::dead) || !options_.reopen || g >= node.g;
    }

    /// Lazy: applies an operator of an evaluated state. True if that is an entry of the batch.
    bool follow(Entry entry) {
        const Node parent = *nodes_[entry.state];
        int64_t real_g = int64_t{parent.real_g} + space_.cost(entry.op), next_g = int64_t{parent.g} + adjusted(entry.op);
        if (over_bound(real_g, next_g)) return false;
        space_.load(entry.state);
        int32_t successor = space_.apply(entry.op);
        grow_nodes();
        ++result_.generated;
        if (options_.steps) options_.steps->push_back({entry.state, entry.op, successor});
        auto g = static_cast<int32_t>(next_g);
        Node &node = *nodes_[successor];
        bool known = is_known(successor);
        bool expands = per_operator_ && !(known && open_.looks_ahead());
        result_.expanded += expands;
        if (known) {
            if (leads_nowhere(successor, g)) {
                if (!is_dead_end(successor)) give_up(real_g, node.real_g);
                return expands;
            }
            give_up(node.real_g, real_g);
            if (node.status == static_cast<uint32_t>(Status::closed)) ++result_.reopened;
        }
        tell_of(entry.state, successor);
        bool waits = known && node.status == static_cast<uint32_t>(Status::fresh);
        node = {entry.state, entry.op, static_cast<uint32_t>(Status::fresh), g, static_cast<int32_t>(real_g)};
        sums_.get(entry, values_[successor]);
        space_.load(successor);
        if (space_.is_goal()) return reached_goal(successor), true;
        if (!waits) waiting_.push_back({successor, false});
        return true;
    }

    /// Heuristics that depend on the path hear of a transition. True if that may have made another state current.
    bool tell_of(int32_t state, int32_t successor) {
        for (Heuristic *heuristic : path_dependent_) heuristic->reached(state, successor);
        return !path_dependent_.empty();
    }

    // ---- evaluation

    /// Fills the values of the waiting states, and in a lazy search their operators; those of awaited heuristics come later.
    void evaluate_waiting() {
        batch_.clear();
        batch_preferred_ = Rows{};
        for (const Waiting &w : waiting_) {
            watch_.throw_if_expired();
            batch_.push_back(w.state);
            if (options_.lazy) evaluate_preferred(w.state);
            for (Heuristic *heuristic : heuristics_) {
                if (!alone(*heuristic) || (options_.lazy && prefers(heuristic))) continue;
                heuristic->evaluate({&w.state, 1}, &values_[w.state][heuristic->slot]);
                ++result_.evaluations;
            }
            ++result_.evaluated;
        }
        if (batch_.empty()) return;
        if (options_.lazy) collect_operators();
        for (Heuristic *heuristic : heuristics_)
            if (heuristic->per_operator() && options_.lazy) evaluate_operators(*heuristic);
            else if (!alone(*heuristic)) evaluate_batch(*heuristic);
    }
    /// Evaluated one state after another, and before those that are not.
    bool alone(const Heuristic &heuristic) const {
        return !heuristic.batched() && !(options_.lazy && heuristic.per_operator());
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
        batch_values_.resize(batch_.size());
        heuristic.evaluate(batch_, batch_values_.data());
        result_.evaluations += static_cast<int64_t>(batch_.size());
        for (size_t i = 0; i < batch_.size(); ++i) values_[batch_[i]][heuristic.slot] = batch_values_[i];
    }
    void evaluate_operators(Heuristic &heuristic) {
        auto &values = operator_values_[heuristic.slot];
        values.resize(batch_operators_.values.size());
        result_.evaluations += static_cast<int64_t>(batch_.size());
        if (heuristic.awaited() && !values.empty()) {
            awaits_ = true;
            return;
        }
        if (!values.empty()) heuristic.evaluate_operators(batch_, batch_operators_, values.data());
        take_least(heuristic);
    }
    /// The value of a state is the least of its operators'.
    void take_least(const Heuristic &heuristic) {
        const auto &values = operator_values_[heuristic.slot];
        for (size_t i = 0; i < batch_.size(); ++i) {
            double least = dead_end;
            for (int32_t k = batch_operators_.begin[i]; k < batch_operators_.begin[i + 1]; ++k)
                least = std::min(least, values[k]);
            values_[batch_[i]][heuristic.slot] = least;
        }
    }
    /// Certain dead ends have no operators that are worth a value.
    void collect_operators() {
        batch_operators_.begin.assign(1, 0);
        batch_operators_.values.clear();
        batch_known_.clear();
        for (int32_t state : batch_) {
            bool dead = std::any_of(heuristics_.begin(), heuristics_.end(), [&](const Heuristic *heuristic) {
                return alone(*heuristic) && heuristic->safe() && values_[state][heuristic->slot] == dead_end;
            });
            if (!dead) {
                space_.load(state);
                space_.applicable(batch_operators_.values);
            }
            batch_operators_.close();
            find_known(state);
        }
    }
    /// Pairs are expansions: those that lead to known states only are left out before they cost one. A policy looks ahead itself.
    void find_known(int32_t state) {
        batch_known_.resize(batch_operators_.values.size(), -1);
        if (!per_operator_ || open_.looks_ahead()) return;
        for (auto k = static_cast<size_t>(batch_operators_.begin[batch_operators_.begin.size() - 2]); k < batch_known_.size(); ++k) {
            const int32_t op = batch_operators_.values[k], successor = space_.find_successor(op);
            if (successor < 0 || !is_known(successor) || !leads_nowhere(successor, int64_t{nodes_[state]->g} + adjusted(op)))
                continue;
            batch_known_[k] = successor;
            if (!is_dead_end(successor)) give_up(int64_t{nodes_[state]->real_g} + space_.cost(op), nodes_[successor]->real_g);
        }
    }

    // ---- placement

    /// Puts the evaluated states (eager) or their operators (lazy) on the open list.
    void place_waiting() {
        for (size_t i = 0; i < waiting_.size(); ++i) {
            int32_t state = waiting_[i].state;
            Placement at{double(nodes_[state]->g), values_[state], waiting_[i].preferred};
            if (prune(at)) {
                set_status(state, Status::dead);
                ++result_.dead_ends;
                if (state == initial_) reports_.line("Initial state is a dead end.");
                continue;
            }
            if (reports_.best(nodes_[state]->g, values_[state])) open_.boost_preferred();
            if (options_.lazy) {
                place_operators(i, state);
            } else {
                set_status(state, Status::open);
                open_.insert({state, -1}, at);
            }
        }
        waiting_.clear();
    }
    void place_operators(size_t index, int32_t state) {
        set_status(state, Status::closed);
        if (!per_operator_) ++result_.expanded;
        set_preferred(batch_preferred_[index]);
        auto row = batch_operators_[index];
        slots_.assign(values_[state], values_[state] + num_slots());
        operators_.assign(row.begin(), row.end());
        if (!per_operator_) order_successors();
        sums_.add(state, operators_, batch_operators_.begin[index], operator_values_, values_[state]);
        for (size_t k = 0; k < operators_.size(); ++k) {
            if (int32_t known = batch_known_[batch_operators_.begin[index] + k]; known >= 0) {
                if (options_.steps) options_.steps->push_back({state, operators_[k], known});
                continue;
            }
            for (Heuristic *heuristic : heuristics_)
                if (heuristic->per_operator())
                    slots_[heuristic->slot] = operator_values_[heuristic->slot][batch_operators_.begin[index] + k];
            sums_.get(state, k, slots_.data());
            Placement at{double(nodes_[state]->g), slots_.data(), is_preferred(operators_[k])};
            if (per_operator_ && prune(at)) continue;
            if (each_once_) taken_.erase(number_of(state, operators_[k]));  // of a state that is reopened
            open_.insert({state, operators_[k]}, at);
        }
    }
    bool prune(const Placement &at) {
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
    /// Paths that a node has no room for are left out as well, and then nothing is proved by finding no other.
    bool over_bound(int64_t real_g, int64_t g) {
        if (real_g >= options_.bound) result_.bounded = true;
        else if (std::max(real_g, g) > Node::max_g) result_.complete = false;
        else return false;
        return true;
    }
    void reached_goal(int32_t state) {
        finish(Outcome::solved);
        for (int32_t s = state; nodes_[s]->parent >= 0; s = nodes_[s]->parent) result_.plan.push_back(nodes_[s]->op);
        std::reverse(result_.plan.begin(), result_.plan.end());
        // Updated parents of closed states may have made the path cheaper than the node remembers.
        for (int32_t op : result_.plan) result_.plan_cost += space_.cost(op);
    }

    StateSpace &space_;
    const SearchOptions options_;
    Watch &watch_;
    OpenList &open_;
    std::mt19937_64 random_;
    SearchResult result_;

    const int32_t initial_;
    Leaves leaves_;
    std::vector<Heuristic *> &heuristics_ = leaves_.heuristics;
    std::vector<Heuristic *> path_dependent_;
    PathSums sums_;
    SearchReports reports_{options_, heuristics_, result_};
    bool per_operator_ = false, each_once_ = false, awaits_ = false, over_ = false, gave_up_ = false;
    SegmentedRows<Node> nodes_;
    SegmentedRows<double> values_;
    std::unordered_set<int64_t> taken_;
    std::vector<Waiting> waiting_;
    std::vector<int32_t> batch_, operators_, preferred_, preferred_buffer_;
    std::vector<double> batch_values_, slots_;
    Rows batch_operators_, batch_preferred_;
    std::vector<int32_t> batch_known_;  // for each operator: the known state that it leads to and no more, or -1
    std::vector<std::vector<double>> operator_values_;
};

}  // namespace

std::unique_ptr<Search> start_search(StateSpace &space, SearchOptions options, Watch &watch) {
    return std::make_unique<BestFirst>(space, std::move(options), watch);
}

SearchResult search(StateSpace &space, SearchOptions options, Watch &watch) {
    return BestFirst(space, std::move(options), watch).run();
}

}  // namespace gsp
