#include "plan_improver.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <random>
#include <unordered_map>
#include <utility>

#include "ground_space.h"
#include "heuristics.h"
#include "search.h"

namespace gsp {
namespace {

/// Ordered by cost, then by the number of steps, which counts where actions are free.
struct Price {
    int64_t cost = 0, steps = 0;
    auto operator<=>(const Price &) const = default;
    Price operator+(const Price &other) const { return {cost + other.cost, steps + other.steps}; }
};

Price price(std::span<const PlanStep> steps) {
    Price total{0, static_cast<int64_t>(steps.size())};
    for (const PlanStep &step : steps) total.cost += step.cost;
    return total;
}

/// g + h, as long as that promises a path below the bound. hFF is no lower bound: it gets some slack.
class BelowBound final : public Evaluator {
public:
    BelowBound(std::shared_ptr<Heuristic> heuristic, double bound) : heuristic_(std::move(heuristic)), bound_(bound) {}
    double value(double g, const double *slots) const override {
        double h = heuristic_->value(g, slots);
        return g + trust * h < bound_ ? g + h : dead_end;
    }
    void collect(Leaves &leaves) override { heuristic_->collect(leaves); }

private:
    static constexpr double trust = 0.7;
    std::shared_ptr<Heuristic> heuristic_;
    double bound_;
};

class Improver {
public:
    Improver(PlanTask &task, Plan plan, const ImproveOptions &options, Watch &watch)
        : task_(task), options_(options), watch_(watch), random_(options.seed), plan_(std::move(plan)), told_(price(plan_)) {}

    Stop run() {
        try {
            work();
        } catch (const Stopped &stopped) {
            tell();
            return stopped.reason;
        } catch (const std::bad_alloc &) {
            tell();
            return Stop::memory;
        }
        return Stop::none;
    }

private:
    static constexpr size_t greedy_steps = 400;     // up to which the costliest part is left out first
    static constexpr size_t first_window = 5, fruitless_orders = 4;
    static constexpr int64_t first_expansions = 100, last_expansions = 6400;
    static constexpr size_t first_states = 10'000;
    static constexpr double around_seconds = 20;     // for the states on and around the plan, each time
    static constexpr size_t max_bytes = size_t{1} << 29;  // for them and what connects them
    static constexpr double tell_seconds = 2;

    void work() {
        begin("action elimination");
        eliminate();
        begin("shortcuts");
        search_around(0);
        size_t states = first_states;
        for (int64_t expansions = first_expansions;;) {
            if (replan(expansions)) continue;
            const bool last = expansions >= last_expansions && states >= options_.max_states;
            expansions = std::min(2 * expansions, last_expansions);
            begin("neighbourhood search");
            if (states <= options_.max_states && search_around(states)) return;
            states *= 4;
            if (last) return tell();
        }
    }

    // ---- reports

    void begin(const char *method) {
        tell();
        method_ = method;
        since_ = cpu_seconds();
    }
    void tell() {
        if (Price now = price(plan_); now < told_) {
            told_ = now;
            PlanReport report{method_, {}, {}, cpu_seconds() - since_};
            for (const PlanStep &step : plan_) {
                report.actions.push_back(task_.name(step.op));
                report.costs.push_back(step.cost);
            }
            const double start = cpu_seconds();
            if (options_.found) options_.found(report);
            since_ = cpu_seconds();
            pause_ = std::max(tell_seconds, 10 * (since_ - start));
        }
    }

    // ---- steps left out

    /// Marks a step and those that cannot be taken without it; false if the goal needs them.
    bool is_superfluous(size_t first, const Values &before) {
        Values values = before;
        left_out_.assign(plan_.size(), 0);
        left_out_[first] = 1;
        for (size_t i = first + 1; i < plan_.size(); ++i)
            if (PlanTask::hold(plan_[i].conditions, values)) task_.apply(plan_[i], values);
            else left_out_[i] = 1;
        watch_.throw_if_expired();
        return PlanTask::hold(task_.goal(), values);
    }
    void leave_out(const std::vector<char> &marks) {
        size_t i = 0;
        std::erase_if(plan_, [&](const PlanStep &) { return marks[i++] != 0; });
    }
    void eliminate() {
        if (plan_.size() <= greedy_steps)
            while (eliminate_costliest()) {}
        else
            eliminate_in_order();
        tell();
    }
    /// Action elimination (Nakhost and Müller 2010): every step is tried once.
    void eliminate_in_order() {
        Values values = task_.initial();
        for (size_t i = 0; i < plan_.size();)
            if (is_superfluous(i, values)) leave_out(left_out_);
            else task_.apply(plan_[i++], values);
    }
    /// The greedy form (Balyo et al. 2014): all are tried, and those that save most are left out.
    bool eliminate_costliest() {
        Values values = task_.initial();
        std::vector<char> best;
        Price most;
        for (size_t i = 0; i < plan_.size(); ++i) {
            if (is_superfluous(i, values)) {
                Price saved;
                for (size_t k = i; k < plan_.size(); ++k)
                    if (left_out_[k]) saved = saved + Price{plan_[k].cost, 1};
                if (saved > most) most = saved, best = left_out_;
            }
            task_.apply(plan_[i], values);
        }
        if (!best.empty()) leave_out(best);
        return !best.empty();
    }

    // ---- states on and around the plan

    struct Edge {
        int32_t from, op, to;
    };

    /// A cheapest path through the states of the plan and the first `max_states` around them (Nakhost and Müller 2010).
    /// True if these are all states, so that no plan is cheaper.
    bool search_around(size_t max_states) {
        auto space = task_.new_space();
        space->set_watch(&watch_);
        std::vector<int32_t> order{space->initial_state()};
        for (const PlanStep &step : plan_) {
            space->load(order.back());
            order.push_back(space->apply(task_.to_space(*space, step.op)));
        }
        const int32_t goal = order.back();
        const size_t on_plan = space->num_states();
        std::vector<Edge> edges;
        std::vector<int32_t> operators;
        // States get their numbers in the order of their discovery, those of the plan first.
        const double end = cpu_seconds() + around_seconds;
        size_t state = 0;
        for (; state < space->num_states() && (state < on_plan || space->num_states() < max_states); ++state) {
            watch_.throw_if_expired();
            if (cpu_seconds() > end || space->state_bytes() + edges.size() * sizeof(Edge) > max_bytes) break;
            space->load(static_cast<int32_t>(state));
            operators.clear();
            space->applicable(operators);
            for (int32_t op : operators) {
                watch_.before_growth(edges);
                int32_t to = space->num_states() < max_states ? space->apply(op) : space->find_successor(op);
                if (to >= 0 && to != static_cast<int32_t>(state)) edges.push_back({static_cast<int32_t>(state), op, to});
            }
        }
        const bool all = state == space->num_states() && state < max_states;
        if (state < on_plan) add_rest_of_plan(*space, order, static_cast<int32_t>(state), edges);
        take_cheapest_path(*space, edges, order.front(), goal);
        tell();
        return all;
    }
    /// The steps of the plan from states that were not expanded.
    void add_rest_of_plan(StateSpace &space, const std::vector<int32_t> &order, int32_t first, std::vector<Edge> &edges) const {
        for (size_t i = 0; i < plan_.size(); ++i)
            if (order[i] >= first) edges.push_back({order[i], task_.to_space(space, plan_[i].op), order[i + 1]});
        std::stable_sort(edges.begin(), edges.end(), [](const Edge &a, const Edge &b) { return a.from < b.from; });
    }
    void take_cheapest_path(StateSpace &space, std::vector<Edge> &edges, int32_t initial, int32_t goal) {
        watch_.expect(space.num_states() * (2 * sizeof(size_t) + sizeof(Price)));
        std::vector<size_t> first(space.num_states() + 1, 0);  // edges come sorted by `from`
        for (const Edge &edge : edges) ++first[edge.from + 1];
        std::partial_sum(first.begin(), first.end(), first.begin());
        constexpr Price unknown{INT64_MAX, 0};
        std::vector<Price> distance(space.num_states(), unknown);
        std::vector<size_t> by(space.num_states(), SIZE_MAX);
        using Item = std::pair<Price, int32_t>;
        std::priority_queue<Item, std::vector<Item>, std::greater<>> queue;
        queue.emplace(distance[initial] = Price{}, initial);
        int32_t reached = goal;
        while (!queue.empty()) {
            watch_.throw_if_expired();
            auto [at, state] = queue.top();
            queue.pop();
            if (at != distance[state]) continue;
            space.load(state);
            if (space.is_goal()) {
                reached = state;
                break;
            }
            for (size_t e = first[state]; e < first[state + 1]; ++e) {
                Price next = at + Price{space.cost(edges[e].op), 1};
                if (next >= distance[edges[e].to]) continue;
                by[edges[e].to] = e;
                queue.emplace(distance[edges[e].to] = next, edges[e].to);
            }
        }
        if (distance[reached] >= price(plan_)) return;
        Plan path;
        for (int32_t state = reached; by[state] != SIZE_MAX; state = edges[by[state]].from)
            path.push_back(task_.step(task_.from_space(space, edges[by[state]].op)));
        std::reverse(path.begin(), path.end());
        plan_ = std::move(path);
    }

    // ---- parts of the plan planned again

    /// Windows of growing size over the plan and over other orders of its steps. True if that made the plan cheaper.
    bool replan(int64_t expansions) {
        begin("windows");
        const Price before = price(plan_);
        for (size_t fruitless = 0, order = 0; fruitless < fruitless_orders; ++order) {
            const Price last = price(plan_);
            if (order > 0) {
                reorder();
                eliminate();
            }
            for (size_t size = first_window; ; size *= 2) {
                replan_windows(size, expansions);
                if (size >= plan_.size() || size >= max_window) break;
            }
            fruitless = price(plan_) < last ? 0 : fruitless + 1;
        }
        tell();
        return price(plan_) < before;
    }

    /// Windows of a size from the end of the plan to its start, each overlapping the next by half.
    void replan_windows(size_t size, int64_t expansions) {
        std::vector<Fact> needed = task_.goal();
        for (size_t end = plan_.size(); end > 0;) {
            const size_t begin = end > size ? end - size : 0;
            end = begin + replan_window(begin, end, needed, expansions);
            if (begin == 0) return;
            const size_t next = begin + (end - begin) / 2;
            if (is_plain())
                for (size_t i = end; i > next; --i) regress(plan_[i - 1], needed);
            end = next;
            if (cpu_seconds() - since_ > pause_) tell();
        }
    }
    /// Conditional effects and axioms: what the rest of the plan needs is not looked for, it gets the state it had.
    bool is_plain() const {
        return !task_.has_axioms() && std::all_of(plan_.begin(), plan_.end(), [](const PlanStep &step) {
            return std::all_of(step.effects.begin(), step.effects.end(), [](const Effect &e) { return e.conditions.empty(); });
        });
    }
    /// What must hold before a step so that the needed facts hold after it.
    static void regress(const PlanStep &step, std::vector<Fact> &needed) {
        std::erase_if(needed, [&](const Fact &fact) {
            auto about = [&](const auto &other) { return other.variable == fact.variable; };
            return std::any_of(step.effects.begin(), step.effects.end(), [&](const Effect &e) { return about(e.fact); }) ||
                   std::any_of(step.conditions.begin(), step.conditions.end(), about);
        });
        needed.insert(needed.end(), step.conditions.begin(), step.conditions.end());
    }

    /// The number of steps that the window has afterwards.
    size_t replan_window(size_t begin, size_t end, const std::vector<Fact> &needed, int64_t expansions) {
        Values before = task_.initial();
        for (size_t i = 0; i < begin; ++i) task_.apply(plan_[i], before);
        std::vector<Fact> wanted = needed;
        if (!is_plain()) {
            Values after = before;
            for (size_t i = begin; i < end; ++i) task_.apply(plan_[i], after);
            wanted.clear();
            for (size_t v = 0; v < after.size(); ++v) wanted.push_back({static_cast<int32_t>(v), after[v]});
        }
        for (bool wide : {false, true}) {
            std::span<const PlanStep> steps(plan_.data() + begin, end - begin);
            if (price(steps).cost == 0 || !is_new(before, wanted, steps, wide, expansions)) continue;
            while (auto found = plan_window({before, wanted, {plan_.data() + begin, end - begin}}, wide, expansions)) {
                auto at = plan_.erase(plan_.begin() + static_cast<std::ptrdiff_t>(begin), plan_.begin() + static_cast<std::ptrdiff_t>(end));
                plan_.insert(at, found->begin(), found->end());
                end = begin + found->size();
                if (found->empty()) return 0;
            }
        }
        return end - begin;
    }
    bool is_new(const Values &before, const std::vector<Fact> &needed, std::span<const PlanStep> steps, bool wide, int64_t expansions) {
        uint64_t key = hash_ints(before.data(), before.size(), wide);
        uint64_t facts = 0;
        for (const Fact &fact : needed) facts += mix(mix(fact.variable) + fact.value);
        for (const PlanStep &step : steps) key = mix(key ^ static_cast<uint64_t>(step.op));
        int64_t &tried = tried_[mix(key ^ facts)];
        return std::exchange(tried, std::max(tried, expansions)) < expansions;
    }
    /// A cheaper way from a window's state to what is needed after it, if a small search finds one.
    std::optional<Plan> plan_window(const Window &window, bool wide, int64_t expansions) {
        watch_.throw_if_expired();
        auto small = task_.window(window, wide, random_(), watch_);
        if (!small) return std::nullopt;
        const HeuristicRequest request{.ground = small->task, .name = "ff", .watch = watch_};
        auto heuristic = make_heuristic("ff", request);
        const int64_t bound = price(window.steps).cost;
        SearchOptions options;
        options.open = make_ordered_open_list({std::make_shared<BelowBound>(heuristic, bound), heuristic}, false, true);
        options.reopen = true;
        options.bound = bound;
        options.max_expansions = expansions;
        GroundSpace space(small->task);
        SearchResult result = search(space, options, watch_);
        watch_.throw_if_expired();
        if (result.outcome != Outcome::solved) return std::nullopt;
        Plan found;
        for (int32_t op : result.plan) found.push_back(task_.step(small->ops[op]));
        return found;
    }

    /// Another order of the steps in which those that need each other come together.
    void reorder() {
        if (!is_plain()) return;
        const size_t count = plan_.size();
        std::vector<std::vector<int32_t>> after(count);
        std::vector<int32_t> missing(count, 0);
        find_dependencies(after, missing);
        std::vector<int32_t> ready;
        for (size_t i = 0; i < count; ++i)
            if (missing[i] == 0) ready.push_back(static_cast<int32_t>(i));
        std::shuffle(ready.begin(), ready.end(), random_);
        Plan ordered;
        while (!ready.empty()) {
            const int32_t i = ready.back();
            ready.pop_back();
            std::shuffle(after[i].begin(), after[i].end(), random_);
            for (int32_t next : after[i])
                if (--missing[next] == 0) ready.push_back(next);
            ordered.push_back(std::move(plan_[i]));
        }
        plan_ = std::move(ordered);
    }
    /// Steps keep their order where one changes what the other needs or changes.
    void find_dependencies(std::vector<std::vector<int32_t>> &after, std::vector<int32_t> &missing) const {
        struct Uses {
            int32_t writer = -1;
            std::vector<int32_t> readers;  // since then
        };
        std::unordered_map<int32_t, Uses> uses;
        auto link = [&](int32_t from, int32_t to) {
            if (from < 0 || from == to) return;
            after[from].push_back(to);
            ++missing[to];
        };
        for (int32_t i = 0; i < static_cast<int32_t>(plan_.size()); ++i) {
            for (const Fact &fact : plan_[i].conditions) {
                Uses &use = uses[fact.variable];
                link(use.writer, i);
                use.readers.push_back(i);
            }
            for (const Effect &effect : plan_[i].effects) {
                Uses &use = uses[effect.fact.variable];
                link(use.writer, i);
                for (int32_t reader : use.readers) link(reader, i);
                use = {i, {}};
            }
        }
    }

    static constexpr size_t max_window = 80;

    PlanTask &task_;
    const ImproveOptions &options_;
    Watch &watch_;
    std::mt19937_64 random_;
    Plan plan_;
    Price told_;
    const char *method_ = "";
    double since_ = 0, pause_ = tell_seconds;  // between two reports: the receiver validates plans
    std::vector<char> left_out_;
    std::unordered_map<uint64_t, int64_t> tried_;  // windows -> expansions
};

}  // namespace

Stop improve_plan(PlanTask &task, const std::vector<std::string> &actions, const ImproveOptions &options, Watch &watch) {
    auto plan = task.plan(actions);
    if (!plan) throw InputError("what is to be improved is no plan of the task");
    return Improver(task, std::move(*plan), options, watch).run();
}

}  // namespace gsp
