#include "axiom_layers.h"

#include <algorithm>
#include <utility>

#include "components.h"

namespace gsp {
namespace {

class GroundLayers {
public:
    GroundLayers(const LiftedTask &task, const Grounding &grounding, Watch &watch)
        : task_(task), grounding_(grounding), watch_(watch), needs_(grounding.atoms.size()), needed_(grounding.atoms.size(), 0) {}

    std::vector<int32_t> run() {
        collect_needs();
        mark_needed();
        for (size_t a = 0; a < needs_.size(); ++a)
            if (!needed_[a]) needs_[a].clear();
        std::vector<int32_t> component_of(needs_.size()), layer(needs_.size(), -1);
        auto found = components(needs_);
        for (size_t c = 0; c < found.size(); ++c)
            for (int32_t a : found[c]) component_of[a] = static_cast<int32_t>(c);
        std::vector<int32_t> layer_of(found.size(), 0);
        Rows axioms_of = heads_.inverted(needs_.size());
        for (size_t c = 0; c < found.size(); ++c) {
            watch_.throw_if_expired();
            for (int32_t a : found[c]) {
                if (!needed_[a]) continue;
                for (int32_t i : axioms_of[a]) {
                    for (int32_t body : grounding_.axioms[i].pre)
                        if (is_derived(body)) layer_of[c] = std::max(layer_of[c], layer_of[component_of[body]]);
                    for (int32_t body : grounding_.axioms[i].neg) {
                        if (!is_derived(body)) continue;
                        if (component_of[body] == static_cast<int32_t>(c)) throw not_stratified(found[c]);
                        layer_of[c] = std::max(layer_of[c], layer_of[component_of[body]] + 1);
                    }
                }
            }
        }
        for (size_t a = 0; a < needs_.size(); ++a)
            if (is_derived(static_cast<int32_t>(a))) layer[a] = layer_of[component_of[a]];
        return layer;
    }

private:
    bool is_derived(int32_t atom) const { return task_.stratum[grounding_.atoms[atom].predicate] >= 0; }
    void collect_needs() {
        for (size_t i = 0; i < grounding_.axioms.size(); ++i) {
            watch_.throw_if_expired();
            GroundRule axiom = grounding_.axioms[i];
            heads_.push(axiom.add);
            for (auto part : {axiom.pre, axiom.neg})
                for (int32_t body : part)
                    if (is_derived(body)) needs_[axiom.add[0]].push_back(body);
        }
    }
    void mark_needed() {
        std::vector<int32_t> open;
        auto need = [&](std::span<const int32_t> atoms) {
            for (int32_t a : atoms)
                if (is_derived(a) && !std::exchange(needed_[a], 1)) open.push_back(a);
        };
        need(grounding_.goal_positive);
        need(grounding_.goal_negative);
        // What changes nothing does not matter.
        const auto changes = [](const auto &effect) { return !effect.add.empty() || !effect.del.empty(); };
        for (size_t i = 0; i < grounding_.num_actions(); ++i) {
            GroundAction action = grounding_.action(i);
            if (!changes(action) && std::none_of(action.effects.begin(), action.effects.end(),
                                                 [&](int32_t e) { return changes(grounding_.effects[e]); })) continue;
            need(action.pre);
            need(action.neg);
        }
        for (size_t i = 0; i < grounding_.effects.size(); ++i) {
            GroundRule effect = grounding_.effects[i];
            if (!changes(effect)) continue;
            need(effect.pre);
            need(effect.neg);
        }
        while (!open.empty()) {
            int32_t atom = open.back();
            open.pop_back();
            need(needs_[atom]);
        }
    }
    NotStratified not_stratified(const std::vector<int32_t> &atoms) const {
        std::vector<int32_t> predicates;
        for (int32_t a : atoms) predicates.push_back(grounding_.atoms[a].predicate);
        std::sort(predicates.begin(), predicates.end());
        predicates.erase(std::unique(predicates.begin(), predicates.end()), predicates.end());
        return NotStratified(std::move(predicates));
    }

    const LiftedTask &task_;
    const Grounding &grounding_;
    Watch &watch_;
    Rows heads_;                               // per axiom
    std::vector<std::vector<int32_t>> needs_;  // per atom: the derived atoms in its axioms
    std::vector<char> needed_;
};

}  // namespace

NotStratified::NotStratified(std::vector<int32_t> circle)
    : InputError("derived predicates depend on their own negation"), predicates(std::move(circle)) {}

std::vector<int32_t> axiom_layers(const LiftedTask &task, const Grounding &grounding, Watch &watch) {
    if (!task.stratified) return GroundLayers(task, grounding, watch).run();
    std::vector<int32_t> layers;
    for (const GroundAtom &atom : grounding.atoms) layers.push_back(task.stratum[atom.predicate]);
    return layers;
}

}  // namespace gsp
