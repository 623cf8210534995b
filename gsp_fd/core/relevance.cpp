#include "relevance.h"

#include <algorithm>
#include <utility>

namespace gsp {
namespace {

constexpr size_t most_boxes = 32;  // of a predicate; more become one that covers them

bool includes(const std::vector<ObjectSet> &box, const std::vector<ObjectSet> &other) {
    for (size_t i = 0; i < box.size(); ++i)
        if (!box[i].includes(other[i])) return false;
    return true;
}

bool any_empty(const std::vector<ObjectSet> &box) {
    return std::any_of(box.begin(), box.end(), [](const ObjectSet &set) { return set.empty(); });
}

}  // namespace

bool ObjectSet::includes(const ObjectSet &other) const {
    for (size_t i = 0; i < words_.size(); ++i)
        if (other.words_[i] & ~words_[i]) return false;
    return true;
}

bool ObjectSet::empty() const {
    return std::all_of(words_.begin(), words_.end(), [](uint64_t word) { return word == 0; });
}

void ObjectSet::intersect(const ObjectSet &other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
}

void ObjectSet::unite(const ObjectSet &other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
}

Relevance::Relevance(const LiftedTask &task)
    : task_(task), statics_(task.predicates.size()), boxes_(task.predicates.size()) {
    for (size_t p = 0; p < task.predicates.size(); ++p)
        if (task.arities[p] == 1 && !task.fluent[p] && task.stratum[p] < 0) statics_[p].emplace_back(task.objects.size());
    for (const GroundAtom &atom : task.init)
        if (!statics_[atom.predicate].empty()) statics_[atom.predicate][0].insert(atom.args[0]);
    for (const auto *goal : {&task.goal_positive, &task.goal_negative})
        for (const GroundAtom &atom : *goal) {
            Box box(atom.args.size(), ObjectSet(task.objects.size()));
            for (size_t i = 0; i < box.size(); ++i) box[i].insert(atom.args[i]);
            need(atom.predicate, std::move(box));
        }
    while (!open_.empty()) {
        const Found found = std::move(open_.back());
        open_.pop_back();
        regress(found);
    }
    for (const Schema &schema : task.schemas) always_.push_back(always_matters(schema));
    trivial_ = std::find(always_.begin(), always_.end(), 0) == always_.end();
}

Relevance::Box Relevance::domains(const Rule &rule) const {
    Box result(rule.parameters.size(), ObjectSet(task_.objects.size()));
    for (size_t i = 0; i < result.size(); ++i)
        for (int32_t object : task_.type_members[rule.parameters[i]]) result[i].insert(object);
    for (const Literal &literal : rule.positive)
        if (!statics_[literal.predicate].empty() && literal.args[0] >= 0)
            result[literal.args[0]].intersect(statics_[literal.predicate][0]);
    return result;
}

bool Relevance::restrict(const Literal &effect, const Box &box, Box &domains) const {
    for (size_t i = 0; i < box.size(); ++i) {
        const int32_t term = effect.args[i];
        if (term < 0 ? !box[i].contains(-term - 1) : (domains[term].intersect(box[i]), false)) return false;
    }
    return !any_empty(domains);
}

void Relevance::need(int32_t predicate, Box box) {
    std::vector<Box> &known = boxes_[predicate];
    if (!task_.fluent[predicate] && task_.stratum[predicate] < 0) return;
    if (std::any_of(known.begin(), known.end(), [&](const Box &other) { return includes(other, box); })) return;
    if (known.size() == most_boxes) {
        for (const Box &other : known)
            for (size_t i = 0; i < box.size(); ++i) box[i].unite(other[i]);
        known.clear();
    }
    std::erase_if(known, [&](const Box &other) { return includes(box, other); });
    known.push_back(box);
    open_.push_back({predicate, std::move(box)});
}

void Relevance::need_conditions(const Rule &rule, const Box &domains) {
    for (const auto *literals : {&rule.positive, &rule.negative})
        for (const Literal &literal : *literals) {
            Box box;
            for (int32_t term : literal.args) {
                box.push_back(term >= 0 ? domains[term] : ObjectSet(task_.objects.size()));
                if (term < 0) box.back().insert(-term - 1);
            }
            need(literal.predicate, std::move(box));
        }
}

void Relevance::regress(const Found &found) {
    for (const auto &stratum : task_.axioms)
        for (const Rule &rule : stratum) {
            Box parameters = domains(rule);
            if (rule.add[0].predicate == found.predicate && restrict(rule.add[0], found.box, parameters))
                need_conditions(rule, parameters);
        }
    for (const Schema &schema : task_.schemas) {
        auto through = [&](const Rule &rule) {
            for (const auto *effects : {&rule.add, &rule.del})
                for (const Literal &effect : *effects)
                    if (effect.predicate == found.predicate) regress_effect(schema, rule, effect, found.box);
        };
        through(schema);
        for (const Rule &rule : schema.conditional) through(rule);
    }
}

void Relevance::regress_effect(const Schema &schema, const Rule &effects, const Literal &effect, const Box &box) {
    Box parameters = domains(effects);
    if (!restrict(effect, box, parameters)) return;
    need_conditions(effects, parameters);
    auto precondition = [&](const Rule &rule) {
        Box own = domains(rule);
        for (size_t i = 0; i < schema.parameters.size(); ++i) own[i].intersect(parameters[i]);
        if (!any_empty(own)) need_conditions(rule, own);
    };
    if (schema.alternatives.empty()) precondition(schema);
    for (const Rule &rule : schema.alternatives) precondition(rule);
}

bool Relevance::matters(std::span<const int32_t> action) const {
    if (always_[action[0]]) return true;
    const Schema &schema = task_.schemas[action[0]];
    auto matter = [&](const Rule &rule) {
        auto one = [&](const Literal &effect) { return matters(effect, action.subspan(1)); };
        return std::any_of(rule.add.begin(), rule.add.end(), one) || std::any_of(rule.del.begin(), rule.del.end(), one);
    };
    return matter(schema) || std::any_of(schema.conditional.begin(), schema.conditional.end(), matter);
}

/// Parameters that the arguments do not give may stand for anything.
bool Relevance::matters(const Literal &effect, std::span<const int32_t> args) const {
    auto inside = [&](const Box &box) {
        for (size_t i = 0; i < box.size(); ++i) {
            const int32_t term = effect.args[i];
            if (term < static_cast<int32_t>(args.size()) && !box[i].contains(ground_term(term, args.data()))) return false;
        }
        return true;
    };
    const std::vector<Box> &boxes = boxes_[effect.predicate];
    return std::any_of(boxes.begin(), boxes.end(), inside);
}

bool Relevance::always_matters(const Schema &schema) const {
    const Box parameters = domains(schema);
    auto covered = [&](const Literal &effect) {
        auto covers = [&](const Box &box) {
            for (size_t i = 0; i < box.size(); ++i) {
                const int32_t term = effect.args[i];
                if (term < 0 ? !box[i].contains(-term - 1) : !box[i].includes(parameters[term])) return false;
            }
            return true;
        };
        const std::vector<Box> &boxes = boxes_[effect.predicate];
        return std::any_of(boxes.begin(), boxes.end(), covers);
    };
    return std::any_of(schema.add.begin(), schema.add.end(), covered) ||
           std::any_of(schema.del.begin(), schema.del.end(), covered);
}

}  // namespace gsp
