#include <deque>
#include <unordered_map>

#include "fact_set.h"
#include "landmark_factory.h"
#include "transition_graphs.h"

namespace gsp {
namespace {

/// The classes of facts that may be together in a disjunctive landmark: those of one predicate. -1: of none.
std::vector<int32_t> disjunction_classes(const GroundTask &task) {
    std::unordered_map<std::string, int32_t> known;
    std::vector<int32_t> classes;
    for (const Variable &variable : task.variables)
        for (const std::string &name : variable.value_names) {
            size_t begin = name.starts_with("Atom ") ? 5 : name.starts_with("NegatedAtom ") ? 12 : 0;
            size_t end = name.find('(', begin);
            bool has_predicate = begin > 0 && end != std::string::npos;
            classes.push_back(!has_predicate ? -1 : known.try_emplace(name.substr(begin, end - begin),
                                                                      static_cast<int32_t>(known.size())).first->second);
        }
    return classes;
}

class RhwFactory {
public:
    RhwFactory(LandmarkTask &task, const LandmarkOptions &options, Watch &watch)
        : graph(task.ground), task_(task), options_(options), watch_(watch), transitions_(task.ground),
          classes_(disjunction_classes(task.ground)) {}

    void run() {
        for (Fact fact : task_.ground.goal)
            if (graph.node_of(fact) < 0) open_.push_back(graph.add({fact}, true));
        while (!open_.empty()) {
            int32_t node = open_.front();
            open_.pop_front();
            backchain(node);
        }
        if (options_.orders) order_forward();
    }

    LandmarkGraph graph;

private:
    void backchain(int32_t node) {
        watch_.throw_if_expired();
        const std::vector<Fact> facts = graph[node].facts;
        const bool holds = graph[node].holds(task_.initial.data());
        if (!holds) task_.reach_without(facts);
        set_costs(node, !holds);
        if (holds) return;
        for (Fact fact : shared_preconditions(graph[node])) add_atomic(fact, node, Ordering::greedy_necessary);
        if (options_.orders) remember_unreached(node);
        if (facts.size() == 1)
            for (int32_t value : transitions_.critical_values(task_, facts[0]))
                add_atomic({facts[0].variable, value}, node, Ordering::natural);
        for (const FactSet &choice : disjunctive_preconditions(graph[node])) add_disjunctive(choice, node);
    }

    // ---- what is needed to achieve a landmark

    /// Given what is reached without the landmark, whether an operator can be the first to make it true.
    bool can_be_first(int32_t id, const Landmark &landmark) const {
        const Operator &op = task_.achiever(id);
        return task_.reached(op.preconditions) &&
               std::any_of(op.effects.begin(), op.effects.end(), [&](const Effect &effect) {
                   return landmark.contains(effect.fact) && task_.reached(effect.conditions);
               });
    }
    /// Without a look at what is reached, all that ever achieves a landmark counts for both: one that holds is never first.
    void set_costs(int32_t node, bool explored) {
        Landmark &landmark = graph[node];
        for (Fact fact : landmark.facts) {
            landmark.derived = landmark.derived || task_.ground.variables[fact.variable].axiom_layer >= 0;
            for (int32_t id : task_.achievers(fact)) {
                landmark.any_cost = std::min(landmark.any_cost, task_.cost(id));
                if (task_.cost(id) < landmark.first_cost && (!explored || can_be_first(id, landmark)))
                    landmark.first_cost = task_.cost(id);
            }
        }
    }
    /// What holds whenever an operator makes the landmark true for the first time.
    FactSet needs(int32_t id, const Landmark &landmark) const {
        const Operator &op = task_.achiever(id);
        FactSet result;
        // As in a SAS file: what stays, and then what is changed.
        std::vector<int32_t> changed;
        for (const Effect &effect : op.effects) changed.push_back(effect.fact.variable);
        std::sort(changed.begin(), changed.end());
        for (Fact fact : op.preconditions)
            if (!std::binary_search(changed.begin(), changed.end(), fact.variable)) result.insert(fact);
        for (const Effect &effect : op.effects)
            if (const Fact *fact = precondition(op, effect.fact.variable)) result.insert(*fact);
        // A binary variable that has an effect and no precondition still has its initial value, where that is the other one.
        for (const Effect &effect : op.effects) {
            int32_t v = effect.fact.variable;
            bool is_binary = task_.ground.variables[v].size() == 2 && !precondition(op, v);
            if (is_binary && std::any_of(landmark.facts.begin(), landmark.facts.end(), [&](Fact fact) {
                    return fact.variable == v && task_.initial[v] != fact.value;
                }))
                result.insert({v, task_.initial[v]});
        }
        FactSet conditions = shared_conditions(op, landmark);
        result.insert(conditions.begin(), conditions.end());
        return result;
    }
    static const Fact *precondition(const Operator &op, int32_t variable) {
        auto found = std::lower_bound(op.preconditions.begin(), op.preconditions.end(), Fact{variable, 0});
        return found != op.preconditions.end() && found->variable == variable ? &*found : nullptr;
    }
    /// The conditions that all effects have which make the landmark true.
    static FactSet shared_conditions(const Operator &op, const Landmark &landmark) {
        FactSet shared;
        bool first = true;
        for (const Effect &effect : op.effects) {
            if (!landmark.contains(effect.fact)) continue;
            if (effect.conditions.empty()) return {};
            FactSet conditions;
            for (Fact fact : effect.conditions) conditions.insert(fact);
            shared = first ? std::move(conditions) : intersection(shared, conditions);
            first = false;
            if (shared.empty()) break;
        }
        return shared;
    }
    FactSet shared_preconditions(const Landmark &landmark) const {
        FactSet shared;
        bool first = true;
        for (Fact fact : landmark.facts)
            for (int32_t id : task_.achievers(fact)) {
                if (!can_be_first(id, landmark)) continue;
                FactSet needed = needs(id, landmark);
                shared = first ? std::move(needed) : intersection(shared, needed);
                first = false;
                if (shared.empty()) return shared;
            }
        return shared;
    }

    /// The facts of one class that the operators need which can be the first.
    struct Choice {
        std::vector<Fact> facts;
        size_t operators = 0;
        int32_t last = INT32_MIN;  // operator
    };
    static constexpr size_t most_disjuncts = 4;

    std::vector<FactSet> disjunctive_preconditions(const Landmark &landmark) const {
        std::unordered_set<int32_t> achievers;
        for (Fact fact : landmark.facts) {
            auto ids = task_.achievers(fact);
            achievers.insert(ids.begin(), ids.end());
        }
        size_t operators = 0;
        std::unordered_map<int32_t, Choice> choices;
        for (int32_t id : achievers) {
            if (!can_be_first(id, landmark)) continue;
            ++operators;
            extend(choices, id, landmark);
            if (std::none_of(choices.begin(), choices.end(), [&](const auto &entry) {
                    return entry.second.operators == operators && num_different(entry.second.facts) <= most_disjuncts;
                }))
                return {};
        }
        std::vector<FactSet> result;
        for (const auto &[number, choice] : choices) {
            if (choice.operators != operators) continue;
            FactSet facts(choice.facts.begin(), choice.facts.end());
            bool holds = std::any_of(facts.begin(), facts.end(), [&](Fact fact) { return task_.holds_initially(fact); });
            if (facts.size() > 1 && facts.size() <= most_disjuncts && !holds) result.push_back(std::move(facts));
        }
        return result;
    }
    void extend(std::unordered_map<int32_t, Choice> &choices, int32_t id, const Landmark &landmark) const {
        for (Fact fact : needs(id, landmark)) {
            int32_t number = classes_[task_.ground.fact_id(fact)];
            if (number < 0 || graph.is_atomic(fact)) continue;
            Choice &choice = choices[number];
            choice.facts.push_back(fact);
            choice.operators += choice.last != id;
            choice.last = id;
        }
    }
    /// At most one more than is allowed.
    static size_t num_different(const std::vector<Fact> &facts) {
        std::vector<Fact> different;
        for (size_t i = 0; i < facts.size() && different.size() <= most_disjuncts; ++i)
            if (std::find(different.begin(), different.end(), facts[i]) == different.end()) different.push_back(facts[i]);
        return different.size();
    }

    // ---- new landmarks

    void order(int32_t from, int32_t to, Ordering ordering) {
        if (options_.orders) graph.order(from, to, ordering);
    }
    void add_atomic(Fact fact, int32_t child, Ordering ordering) {
        int32_t known = graph.node_of(fact);
        if (known >= 0 && !graph[known].disjunctive()) return order(known, child, ordering);
        int32_t node = graph.add({fact});
        open_.push_back(node);
        order(node, child, ordering);
        if (known >= 0) replace(known, node);
    }
    /// A fact says more than a disjunction with it. What came naturally before that comes before the fact.
    void replace(int32_t disjunctive, int32_t atomic) {
        std::erase(open_, disjunctive);
        unreached_.erase(disjunctive);
        std::map<int32_t, Ordering> parents = graph[disjunctive].parents;
        graph.remove(disjunctive);
        for (auto [parent, ordering] : parents) order(parent, atomic, Ordering::natural);
    }
    void add_disjunctive(const FactSet &facts, int32_t child) {
        if (std::any_of(facts.begin(), facts.end(), [&](Fact fact) { return graph.is_atomic(fact); })) return;
        int32_t known = graph.node_of(*facts.begin());
        auto same = [&](Fact fact) { return graph.node_of(fact) == known; };
        if (std::all_of(facts.begin(), facts.end(), same) && known >= 0)
            return order(known, child, Ordering::greedy_necessary);
        if (std::any_of(facts.begin(), facts.end(), [&](Fact fact) { return graph.node_of(fact) >= 0; })) return;
        int32_t node = graph.add({facts.begin(), facts.end()});
        open_.push_back(node);
        order(node, child, Ordering::greedy_necessary);
    }

    // ---- orders between landmarks and what cannot be reached without them

    void remember_unreached(int32_t node) {
        std::vector<bool> &unreached = unreached_[node];
        unreached.resize(task_.ground.num_facts());
        for (int32_t v = 0; v < static_cast<int32_t>(task_.ground.variables.size()); ++v)
            for (int32_t value = 0; value < task_.ground.variables[v].size(); ++value)
                unreached[task_.ground.fact_id({v, value})] = !task_.reached(Fact{v, value});
    }
    void order_forward() {
        std::vector<int32_t> together(task_.ground.num_facts(), -1);
        for (const auto &[node, unreached] : unreached_) {
            watch_.throw_if_expired();
            for (Fact fact : graph[node].facts) {
                together[task_.ground.fact_id(fact)] = node;
                for (int32_t id : task_.achievers(fact))
                    for (const Effect &effect : task_.achiever(id).effects) together[task_.ground.fact_id(effect.fact)] = node;
            }
            for (int32_t other = 0; other < static_cast<int32_t>(graph.size()); ++other) {
                if (graph.removed(other) || graph[other].disjunctive()) continue;
                int32_t fact = task_.ground.fact_id(graph[other].facts[0]);
                if (unreached[fact] && together[fact] != node) graph.order(node, other, Ordering::natural);
            }
        }
    }

    LandmarkTask &task_;
    const LandmarkOptions &options_;
    Watch &watch_;
    TransitionGraphs transitions_;
    std::vector<int32_t> classes_;
    std::deque<int32_t> open_;
    std::map<int32_t, std::vector<bool>> unreached_;  // per landmark, without it
};

std::string seconds_since(double start) { return std::to_string(cpu_seconds() - start) + "s"; }

std::string found(const LandmarkGraph &graph) {
    return std::to_string(graph.size()) + " landmarks, of which " + std::to_string(graph.num_disjunctive()) +
           " are disjunctive and 0 are conjunctive.";
}

void report(const LandmarkGraph &graph, double start, const LandmarkLog &log) {
    log("Landmarks generation time: " + seconds_since(start));
    if (graph.size() == 0) {
        log("Warning! No landmarks found. Task unsolvable?");
        return;
    }
    log("Discovered " + found(graph));
    log("There are " + std::to_string(graph.num_orderings()) + " landmark orderings.");
}

}  // namespace

LandmarkGraph rhw_landmarks(LandmarkTask &task, const LandmarkOptions &options, Watch &watch, const LandmarkLog &log) {
    RhwFactory factory(task, options, watch);
    factory.run();
    LandmarkGraph &graph = factory.graph;
    if (!options.disjunctive && graph.num_disjunctive() > 0) {
        log("Discarding " + std::to_string(graph.num_disjunctive()) + " disjunctive landmarks");
        for (int32_t node = 0; node < static_cast<int32_t>(graph.size()); ++node)
            if (graph[node].disjunctive()) graph.remove(node);
    }
    graph.compact();
    return std::move(graph);
}

LandmarkGraph find_landmarks(const GroundTask &task, const LandmarkOptions &options, Watch &watch, const LandmarkLog &log) {
    double start = cpu_seconds();
    log("Generating landmark graph...");
    if (options.reasonable) log("Building a landmark graph with reasonable orders.");
    log("Initializing Exploration...");
    LandmarkTask landmark_task(task, options.axioms, watch);
    log("Generating landmarks using the RPG/SAS+ approach");
    LandmarkGraph graph = rhw_landmarks(landmark_task, options, watch, log);
    report(graph, start, log);
    if (options.reasonable) {
        log("approx. reasonable orders");
        add_reasonable_orders(landmark_task, graph, watch);
        report(graph, start, log);
    }
    log("Landmark graph generation time: " + seconds_since(start));
    log("Landmark graph contains " + found(graph));
    log("Landmark graph contains " + std::to_string(graph.num_orderings()) + " orderings.");
    return graph;
}

}  // namespace gsp
