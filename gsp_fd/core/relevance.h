// What may matter for the goal of a lifted task, found without grounding: for each predicate, products of sets of objects that
// cover all atoms on which the goal may depend. No plan needs an action that changes none of them.
#pragma once

#include <span>

#include "lifted_task.h"

namespace gsp {

class ObjectSet {
public:
    explicit ObjectSet(size_t objects) : words_((objects + 63) / 64, 0) {}
    void insert(int32_t object) { words_[object / 64] |= bit(object); }
    bool contains(int32_t object) const { return words_[object / 64] & bit(object); }
    bool includes(const ObjectSet &other) const;
    bool empty() const;
    void intersect(const ObjectSet &other);
    void unite(const ObjectSet &other);

private:
    static uint64_t bit(int32_t object) { return uint64_t{1} << (object % 64); }
    std::vector<uint64_t> words_;
};

class Relevance {
public:
    explicit Relevance(const LiftedTask &task);
    /// Whether every action may matter, as far as this can tell.
    bool is_trivial() const { return trivial_; }
    /// Whether an action (schema, objects...) may change something that matters.
    bool matters(std::span<const int32_t> action) const;

private:
    using Box = std::vector<ObjectSet>;  // one set for each argument, or for each parameter of a rule
    struct Found {
        int32_t predicate;
        Box box;
    };
    /// The objects that parameters may stand for, by their types and by static predicates of one argument.
    Box domains(const Rule &rule) const;
    /// False if no object is left for some parameter.
    bool restrict(const Literal &effect, const Box &box, Box &domains) const;
    void need(int32_t predicate, Box box);
    void need_conditions(const Rule &rule, const Box &domains);
    void regress(const Found &found);
    void regress_effect(const Schema &schema, const Rule &effects, const Literal &effect, const Box &box);
    bool matters(const Literal &effect, std::span<const int32_t> args) const;
    bool always_matters(const Schema &schema) const;

    const LiftedTask &task_;
    std::vector<Box> statics_;             // [predicate]: what static predicates of one argument hold for, else nothing
    std::vector<std::vector<Box>> boxes_;  // [predicate]
    std::vector<Found> open_;
    std::vector<char> always_;             // [schema]
    bool trivial_ = true;
};

}  // namespace gsp
