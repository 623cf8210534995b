#include <map>
#include <set>

#include "landmark_factory.h"

namespace gsp {
namespace {

class ReasonableOrders {
public:
    ReasonableOrders(const LandmarkTask &task, LandmarkGraph &graph, Watch &watch) : task_(task), graph_(graph), watch_(watch) {}

    void add() {
        for (int32_t node = 0; node < static_cast<int32_t>(graph_.size()); ++node) {
            watch_.throw_if_expired();
            if (graph_[node].disjunctive()) continue;
            if (graph_[node].in_goal) {
                for (int32_t other = 0; other < static_cast<int32_t>(graph_.size()); ++other) order(other, node);
            } else {
                for (int32_t other : candidates(node)) order(other, node);
            }
        }
    }

private:
    /// If one of two landmarks must be true at the same time as the other, or later, and would be lost on the way to the
    /// other, it is better to have the other first.
    void order(int32_t other, int32_t node) {
        if (other == node || graph_[other].disjunctive()) return;
        if (interferes(graph_[other].facts[0], graph_[node].facts[0])) graph_.order(other, node, Ordering::reasonable);
    }

    /// What is needed for the landmarks that the landmark is needed for just before, and what comes naturally before that.
    std::vector<int32_t> candidates(int32_t node) {
        std::vector<int32_t> found;
        std::vector<char> seen(graph_.size(), 0);
        auto add = [&](int32_t other) {
            if (!seen[other]) found.push_back(other);
            seen[other] = 1;
        };
        for (auto [child, ordering] : graph_[node].children) {
            if (ordering < Ordering::greedy_necessary) continue;
            for (auto [parent, of_parent] : graph_[child].parents)
                if (of_parent >= Ordering::natural && parent != node && !graph_[parent].disjunctive()) add(parent);
        }
        for (size_t next = 0; next < found.size(); ++next)
            for (auto [parent, ordering] : graph_[found[next]].parents)
                if (ordering >= Ordering::natural) add(parent);
        return found;
    }

    /// True if b cannot stay true when a is achieved: they exclude each other, or all that achieves a makes something true that
    /// excludes b.
    bool interferes(Fact a, Fact b) {
        if (a == b) return false;
        if (task_.are_mutex(a, b)) return true;
        const std::vector<Fact> &effects = shared_effects(a);
        return std::any_of(effects.begin(), effects.end(), [&](Fact effect) {
            return effect != a && effect != b && task_.are_mutex(effect, b);
        });
    }
    const std::vector<Fact> &shared_effects(Fact fact) {
        auto [known, is_new] = shared_effects_.try_emplace(fact);
        std::vector<Fact> &shared = known->second;
        if (!is_new) return shared;
        bool first = true;
        for (int32_t id : task_.achievers(fact)) {
            std::set<Fact> effects = sure_effects(task_.achiever(id), fact.variable);
            if (first) shared.assign(effects.begin(), effects.end());
            else std::erase_if(shared, [&](Fact effect) { return !effects.contains(effect); });
            first = false;
            if (shared.empty()) break;
        }
        return shared;
    }
    /// Unconditional effects on other variables, and conditional ones that happen in any case.
    std::set<Fact> sure_effects(const Operator &op, int32_t variable) const {
        std::set<Fact> result;
        for (const Effect &effect : op.effects)
            if (effect.conditions.empty() && effect.fact.variable != variable) result.insert(effect.fact);
        if (std::all_of(op.effects.begin(), op.effects.end(), [](const Effect &e) { return e.conditions.empty(); }))
            return result;

        struct Conditions {
            int32_t value;
            bool one_value = true;
            std::map<int32_t, std::set<int32_t>> values;  // per variable
        };
        std::map<int32_t, Conditions> per_variable;
        for (const Effect &effect : op.effects) {
            if (effect.conditions.empty()) continue;
            Conditions &known = per_variable.try_emplace(effect.fact.variable, Conditions{effect.fact.value, true, {}}).first->second;
            known.one_value = known.one_value && known.value == effect.fact.value;
            for (Fact fact : effect.conditions) known.values[fact.variable].insert(fact.value);
        }
        for (auto &[changed, known] : per_variable)
            if (known.one_value && covers(changed, known.value, known.values)) result.insert({changed, known.value});
        return result;
    }
    /// Fast Downward compares with the values of the changed variable, not of the one in the condition, and so do we.
    bool covers(int32_t changed, int32_t value, std::map<int32_t, std::set<int32_t>> &conditions) const {
        for (auto &[variable, values] : conditions) {
            if (variable == changed) values.insert(value);
            if (static_cast<int32_t>(values.size()) < task_.ground.variables[changed].size()) return false;
        }
        return true;
    }

    const LandmarkTask &task_;
    LandmarkGraph &graph_;
    Watch &watch_;
    std::map<Fact, std::vector<Fact>> shared_effects_;
};

}  // namespace

void add_reasonable_orders(const LandmarkTask &task, LandmarkGraph &graph, Watch &watch) {
    ReasonableOrders(task, graph, watch).add();
}

}  // namespace gsp
