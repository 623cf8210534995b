#include "axiom_layers.h"

#include <algorithm>
#include <utility>

#include "components.h"

namespace gsp {
namespace {

bool is_derived(const LiftedTask &task, const Grounding &grounding, int32_t atom) {
    return task.stratum[grounding.atoms[atom].predicate] >= 0;
}

/// Finds derived atoms that are true, or false, in every state, one from the other.
class SettledAxioms {
public:
    SettledAxioms(const LiftedTask &task, const Grounding &grounding)
        : task_(task), axioms_(grounding.axioms), rules_left_(grounding.atoms.size(), 0), settled_(grounding.atoms.size(), 0),
          open_(axioms_.size(), 0), state_(axioms_.size(), undecided) {
        Rows positive, negative, heads;
        for (size_t i = 0; i < axioms_.size(); ++i) {
            positive.push(axioms_[i].pre);
            negative.push(axioms_[i].neg);
            open_[i] = axioms_[i].pre.size() + axioms_[i].neg.size();
            ++rules_left_[head(i)];
        }
        positive_in_ = positive.inverted(settled_.size());
        negative_in_ = negative.inverted(settled_.size());
        for (size_t a = 0; a < settled_.size(); ++a)
            if (rules_left_[a] == 0 && is_derived(task_, grounding, static_cast<int32_t>(a))) settle(static_cast<int32_t>(a), false);
        for (size_t i = 0; i < axioms_.size(); ++i)
            if (open_[i] == 0) fire(i);
        while (!pending_.empty()) {
            auto [atom, truth] = pending_.back();
            pending_.pop_back();
            for (int32_t i : (truth ? positive_in_ : negative_in_)[atom])
                if (--open_[i] == 0) fire(i);
            for (int32_t i : (truth ? negative_in_ : positive_in_)[atom]) block(i);
        }
    }
    /// Whether an axiom has a part in what its atom is: it may fire, and it is the one that makes the atom true, if one does.
    bool counts(size_t axiom) const {
        return state_[axiom] == fires || (state_[axiom] == undecided && !settled_[head(axiom)]);
    }

private:
    enum State : char { undecided, fires, never };

    int32_t head(size_t axiom) const { return axioms_[axiom].add[0]; }
    void settle(int32_t atom, bool truth) {
        settled_[atom] = 1;
        pending_.emplace_back(atom, truth);
    }
    void fire(size_t axiom) {
        if (state_[axiom] != undecided || settled_[head(axiom)]) return;
        state_[axiom] = fires;
        settle(head(axiom), true);
    }
    void block(size_t axiom) {
        if (state_[axiom] != undecided) return;
        state_[axiom] = never;
        if (--rules_left_[head(axiom)] == 0 && !settled_[head(axiom)]) settle(head(axiom), false);
    }

    const LiftedTask &task_;
    const GroundRules &axioms_;
    std::vector<int32_t> rules_left_;  // per atom: axioms that may fire
    std::vector<char> settled_;        // per atom
    std::vector<size_t> open_;         // per axiom: conditions that are not settled
    std::vector<State> state_;
    Rows positive_in_, negative_in_;   // per atom: axioms
    std::vector<std::pair<int32_t, bool>> pending_;
};

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
    bool is_derived(int32_t atom) const { return gsp::is_derived(task_, grounding_, atom); }
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

void settle_axioms(const LiftedTask &task, Grounding &grounding) {
    const SettledAxioms settled(task, grounding);
    GroundRules kept;
    for (size_t i = 0; i < grounding.axioms.size(); ++i)
        if (settled.counts(i)) kept.push(grounding.axioms[i]);
    grounding.axioms = std::move(kept);
}

std::vector<int32_t> axiom_layers(const LiftedTask &task, const Grounding &grounding, Watch &watch) {
    if (!task.stratified) return GroundLayers(task, grounding, watch).run();
    std::vector<int32_t> layers;
    for (const GroundAtom &atom : grounding.atoms) layers.push_back(task.stratum[atom.predicate]);
    return layers;
}

}  // namespace gsp
