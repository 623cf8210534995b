#include "episode.h"

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <utility>

namespace gsp {
namespace {

constexpr float unbounded = -std::numeric_limits<float>::infinity();

// Of walks through an exhausted state space.
constexpr int32_t most_walks = 40, most_steps = 1000, most_astray = 8;
constexpr uint64_t best_of_100 = 75, strays_of_100 = 5, walk_seed = 1;

/// Many episodes run side by side, each with heuristics of its own; one that serves twice stays one.
void make_own(EpisodeOptions &options) {
    std::map<std::shared_ptr<Heuristic>, std::shared_ptr<Heuristic>> own{{nullptr, nullptr}};
    for (auto *heuristic : {&options.dead_ends, &options.guide, &options.plans}) {
        auto [place, is_new] = own.try_emplace(*heuristic);
        if (is_new) place->second = (*heuristic)->clone();
        if (is_new && !place->second) throw InputError("this heuristic cannot serve several episodes at once");
        *heuristic = place->second;
    }
}

OpenListPtr wastar_open_list(const std::shared_ptr<Heuristic> &h, double weight) {
    return make_ordered_open_list({make_sum({make_g(), make_weighted(h, weight)})}, false, false);
}

}  // namespace

Episode::Episode(std::shared_ptr<const LiftedTask> task, bool symmetry)
    : space_(std::move(task), symmetry), own_atoms_(space_.database().atoms().size()),
      watch_(std::numeric_limits<double>::infinity(), 0, nullptr) {}

Episode::Episode(std::shared_ptr<const LiftedTask> task, EpisodeOptions options) : Episode(std::move(task), options.symmetry) {
    make_own(options);
    planner_ = options.plans;
    if (options.guide) {
        follow_guide(options);
        planner_.reset();
        return;
    }
    if (planner_) planner_->bind(space_);
    std::shared_ptr<Heuristic> q = make_awaited();
    SearchOptions search;
    search.open = options.greedy ? make_depth_first_open_list(q) : wastar_open_list(q, options.weight);
    search.dead_ends = options.dead_ends;
    search.lazy = true;
    search.max_expansions = options.budget;
    search.steps = &steps_;
    search_ = start_search(space_, std::move(search), watch_);
    advance();
}

void Episode::follow_guide(const EpisodeOptions &options) {
    if (planner_) planner_->bind(space_);
    if (options.exact_states > 0) {
        LiftedSpace searched(space_.shared_task(), options.symmetry);
        if (auto all = Exhaustion::of(searched, options.exact_states)) {
            walk(searched, *all);
            return;
        }
    }
    LiftedSpace searched(space_.shared_task(), options.symmetry);
    SearchOptions search;
    search.open = wastar_open_list(options.guide, options.weight);
    search.max_expansions = options.budget;
    Watch watch(options.guide_seconds, 0, nullptr);
    const SearchResult result = gsp::search(searched, std::move(search), watch);
    expansions_ = result.expanded;
    if (result.outcome == Outcome::solved) follow_plan(searched, result);
}

void Episode::follow_plan(LiftedSpace &searched, const SearchResult &result) {
    int32_t state = space_.initial_state();
    for (int32_t op : result.plan) {
        visit(state);
        space_.load(state);
        const int32_t own = space_.insert_representative(searched.action(op)), successor = space_.apply(own);
        add({state, own, successor}, TransitionKind::inner);
        state = successor;
    }
    if (!transitions_.empty()) transitions_.back().kind = TransitionKind::goal;
    take_plan();
}

void Episode::visit(int32_t state) {
    space_.load(state);
    std::vector<int32_t> applicable;
    space_.applicable(applicable);
    keep(state, applicable);
}

void Episode::walk(LiftedSpace &searched, const Exhaustion &all) {
    expansions_ = static_cast<int64_t>(all.num_states());
    const int32_t start = searched.initial_state();
    if (all.cost(start) == Exhaustion::unreachable) return;
    Exhausted known{searched, all, std::vector<int32_t>(all.num_states(), -1)};
    known.own[start] = space_.initial_state();
    std::mt19937_64 random(walk_seed);
    auto one_of = [&](const std::vector<int32_t> &states) { return states[random() % states.size()]; };
    std::vector<int32_t> open, best, dead;  // successors that lead to a goal, the best of them, and the others
    auto look_around = [&](int32_t state) {
        open.clear(), best.clear(), dead.clear();
        for (const Exhaustion::Edge &edge : all.edges(state)) {
            const int64_t cost = all.cost(searched, edge);
            (cost == Exhaustion::unreachable ? dead : open).push_back(edge.successor);
            if (cost == all.cost(state) && cost != Exhaustion::unreachable) best.push_back(edge.successor);
        }
    };
    for (int32_t walks = 0; walks < most_walks; ++walks) {
        int32_t state = start;
        for (int32_t steps = 0; all.cost(state) > 0 && steps < most_steps; ++steps) {
            take_exact(known, state);
            look_around(state);
            const int32_t next = walks == 0 ? best[0] : one_of(random() % 100 < best_of_100 ? best : open);
            const bool strays = !dead.empty() && random() % 100 < strays_of_100;
            for (int32_t astray = 0; strays && astray < most_astray && !dead.empty(); ++astray) {
                state = one_of(dead);
                take_exact(known, state);
                look_around(state);
            }
            state = next;
        }
    }
    take_plan();
}

/// The transitions of a state that is reached for the first time, with what they are worth, or that they are in vain.
void Episode::take_exact(Exhausted &known, int32_t state) {
    const int32_t own_state = known.own[state];
    if (!known.taken.insert(state).second) return;
    visit(own_state);
    for (const Exhaustion::Edge &edge : known.all.edges(state)) {
        space_.load(own_state);
        const int32_t own = space_.insert_representative(known.searched.action(edge.op));
        known.own[edge.successor] = space_.apply(own);
        Transition &added = add({own_state, own, known.own[edge.successor]}, TransitionKind::dead_end);
        const int64_t cost = known.all.cost(known.searched, edge);
        if (cost == Exhaustion::unreachable) continue;
        added.kind = known.all.cost(edge.successor) == 0 ? TransitionKind::goal : TransitionKind::exact;
        added.bound = -static_cast<float>(cost);
    }
}

bool Episode::advance() {
    if (pending_ >= 0) return true;
    if (!search_) return false;
    if (search_->advance()) {
        pending_ = search_->waiting()[0];
        keep(pending_, search_->awaited()[0]);
    }
    take_over();
    if (pending_ < 0) finish();
    return pending_ >= 0;
}

void Episode::keep(int32_t state, std::span<const int32_t> applicable) {
    actions_.set(state, applicable);
    Rows plan;
    if (planner_) planner_->relaxed_plan(state, plan);
    plans_.set(state, plan.values);
}

void Episode::feed(std::span<const float> q) {
    if (pending_ < 0) throw InputError("the episode waits for no Q-values");
    search_->feed(q);
    pending_ = -1;
}

Transition &Episode::add(Step step, TransitionKind kind) {
    auto known = actions(step.state);
    auto action = static_cast<int32_t>(std::find(known.begin(), known.end(), step.op) - known.begin());
    return transitions_.emplace_back(Transition{step.state, action, step.successor, space_.cost(step.op), unbounded, kind});
}

/// Makes transitions of the steps that the search took.
void Episode::take_over() {
    for (const Step &step : steps_) {
        bool dead = search_->is_dead_end(step.successor) || actions(step.successor).empty();
        add(step, dead ? TransitionKind::dead_end : TransitionKind::inner);
    }
    steps_.clear();
    expansions_ = search_->result().expanded;
}

/// The first transition to a goal ends the plan.
void Episode::take_plan() {
    plan_length_ = static_cast<int64_t>(plan_transitions().size());
    bound_plan();
}

/// States from which every way was followed and none leads on are dead ends, although they have actions.
void Episode::mark_dead_ends() {
    std::vector<std::vector<int32_t>> before(space_.num_states());
    std::vector<size_t> followed(space_.num_states(), 0);
    for (const Transition &t : transitions_) {
        before[t.successor].push_back(t.state);
        ++followed[t.state];
    }
    std::vector<char> leads_on(space_.num_states(), 0);
    std::vector<int32_t> open;
    auto mark = [&](int32_t state) {
        if (!std::exchange(leads_on[state], 1)) open.push_back(state);
    };
    for (const Transition &t : transitions_) {
        if (followed[t.state] < actions(t.state).size()) mark(t.state);
        if (t.kind == TransitionKind::goal || (t.kind == TransitionKind::inner && followed[t.successor] == 0)) mark(t.successor);
    }
    while (!open.empty()) {
        int32_t state = open.back();
        open.pop_back();
        for (int32_t predecessor : before[state]) mark(predecessor);
    }
    for (Transition &t : transitions_)
        if (!leads_on[t.successor]) t.kind = TransitionKind::dead_end;
}

void Episode::finish() {
    if (search_->result().outcome == Outcome::solved) {
        if (!transitions_.empty()) transitions_.back().kind = TransitionKind::goal;
        take_plan();
    }
    mark_dead_ends();
    search_.reset();
    planner_.reset();
}

/// The numbers of the transitions of the plan, which the transition to a goal ends.
std::vector<int32_t> Episode::plan_transitions() const {
    auto last = std::find_if(transitions_.begin(), transitions_.end(),
                             [](const Transition &t) { return t.kind == TransitionKind::goal; });
    if (last == transitions_.end()) return {};
    // The first transition to a state discovered it; states are numbered as they are discovered.
    std::vector<int32_t> discovery(space_.num_states(), -1), path;
    for (size_t number = 0; number < transitions_.size(); ++number) {
        const Transition &t = transitions_[number];
        if (discovery[t.successor] < 0 && t.successor > t.state) discovery[t.successor] = static_cast<int32_t>(number);
    }
    for (auto t = static_cast<int32_t>(last - transitions_.begin()); t >= 0; t = discovery[transitions_[t].state])
        path.push_back(t);
    std::reverse(path.begin(), path.end());
    return path;
}

/// Gives every transition of the plan its return, a lower bound on what can be had from there; exact ones have the best.
void Episode::bound_plan() {
    std::vector<int32_t> path = plan_transitions();
    float bound = 0;
    for (auto t = path.rbegin(); t != path.rend(); ++t) {
        bound -= static_cast<float>(transitions_[*t].cost);
        transitions_[*t].bound = std::max(transitions_[*t].bound, bound);
    }
}

bool Episode::exact() const {
    return std::any_of(transitions_.begin(), transitions_.end(),
                       [](const Transition &t) { return t.kind == TransitionKind::exact; });
}

std::vector<std::string> Episode::plan() const {
    std::vector<std::string> names;
    for (int32_t t : plan_transitions())
        names.push_back(space_.operator_name(actions(transitions_[t].state)[transitions_[t].action]));
    return names;
}

}  // namespace gsp
