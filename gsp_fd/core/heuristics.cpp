#include "heuristics.h"

#include <map>
#include <mutex>

#include "grounder.h"
#include "relaxation.h"

namespace gsp {
namespace {

/// Heuristics of one task and cost type share its relaxation, in several searches and threads.
std::shared_ptr<const RelaxedTask> relaxation_of(const HeuristicRequest &request) {
    static std::mutex mutex;
    static std::map<std::tuple<const void *, CostType, AxiomHandling>, std::weak_ptr<const RelaxedTask>> known;
    // A relaxation keeps its task alive, so the address stands for no other task as long as there is one.
    const void *task = request.ground ? static_cast<const void *>(request.ground.get()) : request.lifted.get();
    std::lock_guard lock(mutex);
    std::erase_if(known, [](const auto &entry) { return entry.second.expired(); });
    auto &entry = known[{task, request.cost_type, request.axioms}];
    std::shared_ptr<const RelaxedTask> relaxed = entry.lock();
    if (!relaxed) {
        // Schemas with alternatives or conditional effects are not split: such a task is grounded, however large it is.
        auto ground_task = request.ground || request.lifted->strips ? request.ground : ground(request.lifted, SIZE_MAX, request.watch);
        relaxed = ground_task ? relax(ground_task, request.cost_type, request.axioms, request.watch)
                              : relax(request.lifted, request.cost_type, request.watch);
        entry = relaxed;
    }
    return relaxed;
}

template<RelaxedKind kind>
std::shared_ptr<Heuristic> relaxed(const HeuristicRequest &request) {
    return make_relaxed(kind, relaxation_of(request), request.name);
}

std::shared_ptr<Heuristic> blind(const HeuristicRequest &request) { return make_blind(request.cost_type, request.name); }

std::shared_ptr<Heuristic> goal_count(const HeuristicRequest &request) { return make_goal_count(request.name); }

using Maker = std::shared_ptr<Heuristic> (*)(const HeuristicRequest &);

const std::map<std::string, Maker> makers = {
    {"ff", relaxed<RelaxedKind::hff>},
    {"add", relaxed<RelaxedKind::hadd>},
    {"hmax", relaxed<RelaxedKind::hmax>},
    {"blind", blind},
    {"goalcount", goal_count},
};

}  // namespace

std::shared_ptr<Heuristic> make_heuristic(const std::string &kind, const HeuristicRequest &request) {
    auto maker = makers.find(kind);
    if (maker == makers.end()) throw InputError("there is no heuristic '" + kind + "'");
    return maker->second(request);
}

}  // namespace gsp
