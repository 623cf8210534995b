// A set of atoms with indices, and the join that finds the instances of a rule whose preconditions hold.
#pragma once

#include <utility>

#include "symmetry.h"

namespace gsp {

/// A set of atoms with indices for joins. Static atoms are put in once, fluent ones come and go.
class Database {
public:
    explicit Database(const LiftedTask &task);

    const LiftedTask &task() const { return task_; }
    TupleTable &atoms() { return atoms_; }
    const TupleTable &atoms() const { return atoms_; }
    int32_t intern(int32_t predicate, const int32_t *args) {
        int32_t id = atoms_.intern(predicate, args, task_.arities[predicate]);
        if (static_cast<size_t>(id) >= truth_.size()) truth_.resize(id + id / 2 + 1024, 0);
        return id;
    }
    bool holds(int32_t predicate, const int32_t *args) const {
        int32_t id = atoms_.find(predicate, args, task_.arities[predicate]);
        return id >= 0 && truth_[id];
    }
    bool holds(int32_t atom) const { return truth_[atom]; }
    void add(int32_t atom);
    void clear_fluents();
    /// The number of fluent atoms that hold; `forget` takes away those that were added after there were so many.
    size_t num_fluents() const { return true_fluents_.size(); }
    void forget(size_t num_fluents);
    /// From now on negated literals of a stratum are false of these marked atoms, instead of those that hold; null to end that.
    void assume(int32_t stratum, const std::vector<char> *marked) {
        assumed_stratum_ = stratum;
        assumed_ = marked;
    }
    /// With classes, `match` yields one instance of each class of equivalent ones; null for all. Returns the former ones.
    const ObjectClasses *set_classes(const ObjectClasses *classes) { return std::exchange(classes_, classes); }

    /// Calls emit(binding) for every instance of the rule whose preconditions hold.
    /// `relaxed`: negative preconditions over fluents are ignored.
    template<class Emit>
    void match(const Rule &rule, bool relaxed, Emit &&emit) {
        start(rule, relaxed);
        join(all_literals(rule), emit);
    }
    /// The instances whose first parameters have these values.
    template<class Emit>
    void match_bound(const Rule &rule, std::span<const int32_t> values, Emit &&emit) {
        start(rule, false);
        std::copy(values.begin(), values.end(), binding_);
        join(all_literals(rule), emit);
    }
    /// The instances for which literal `trigger` is the atom added last, and no earlier literal is.
    template<class Emit>
    void match_newest(const Rule &rule, size_t trigger, const int32_t *args, bool relaxed, Emit &&emit) {
        start(rule, relaxed);
        trigger_ = static_cast<int32_t>(trigger);
        trigger_args_ = args;
        const Literal &literal = rule.positive[trigger];
        size_t bound = 0;
        int32_t parameters[LiftedTask::max_parameters];
        if (bind(literal, args, parameters, bound)) join(all_literals(rule) & ~(uint64_t{1} << trigger), emit);
    }

private:
    struct Relation {
        int32_t arity = 0, size = 0;
        std::vector<int32_t> tuples;
        std::vector<std::vector<int32_t>> by_argument;  // [position * objects + object] -> tuple numbers
        std::vector<int32_t> touched;
    };

    static uint64_t all_literals(const Rule &rule) {
        return rule.positive.size() == 64 ? ~uint64_t{0} : (uint64_t{1} << rule.positive.size()) - 1;
    }
    void start(const Rule &rule, bool relaxed) {
        rule_ = &rule;
        relaxed_ = relaxed;
        trigger_ = -1;
        std::fill(binding_, binding_ + rule.parameters.size(), -1);
    }
    bool bind(const Literal &literal, const int32_t *tuple, int32_t *bound, size_t &count) {
        for (size_t i = 0; i < literal.args.size(); ++i) {
            int32_t term = literal.args[i];
            if (term < 0) {
                if (tuple[i] != -term - 1) return false;
            } else if (binding_[term] >= 0) {
                if (binding_[term] != tuple[i]) return false;
            } else if (admits(term, tuple[i])) {
                binding_[term] = tuple[i];
                bound[count++] = term;
            } else {
                return false;
            }
        }
        return true;
    }
    /// Type, and with symmetry reduction: no more objects of a class than the rule has parameters are ever needed.
    bool admits(int32_t parameter, int32_t object) const {
        if (!task_.is_member[rule_->parameters[parameter]][object]) return false;
        return !classes_ || classes_->rank(object) < static_cast<int32_t>(rule_->parameters.size());
    }
    bool ground(const Literal &literal, int32_t *out) const {
        for (size_t i = 0; i < literal.args.size(); ++i) {
            out[i] = ground_term(literal.args[i], binding_);
            if (out[i] < 0) return false;
        }
        return true;
    }
    /// In a triggered match an earlier literal must not be the newest atom too.
    bool is_newest(size_t literal, const int32_t *args) const {
        return static_cast<int32_t>(literal) < trigger_ &&
               rule_->positive[literal].predicate == rule_->positive[trigger_].predicate &&
               std::equal(args, args + rule_->positive[literal].args.size(), trigger_args_);
    }
    bool constraints_hold() const;
    bool is_negated(int32_t predicate, const int32_t *args) const {
        if (!assumed_ || task_.stratum[predicate] != assumed_stratum_) return !holds(predicate, args);
        int32_t id = atoms_.find(predicate, args, task_.arities[predicate]);
        return id < 0 || static_cast<size_t>(id) >= assumed_->size() || !(*assumed_)[id];
    }

    template<class Emit>
    void join(uint64_t rest, Emit &&emit) {
        if (rest == 0) return bind_free(0, emit);
        int best = -1;
        int32_t least = INT32_MAX;
        const std::vector<int32_t> *candidates = nullptr;
        int32_t args[LiftedTask::max_parameters];
        for (uint64_t m = rest; m != 0; m &= m - 1) {
            int j = __builtin_ctzll(m);
            const Literal &literal = rule_->positive[j];
            const Relation &relation = relations_[literal.predicate];
            if (relation.size == 0) return;
            int32_t size = relation.size;
            const std::vector<int32_t> *list = nullptr;
            bool complete = true;
            for (size_t i = 0; i < literal.args.size(); ++i) {
                int32_t object = args[i] = ground_term(literal.args[i], binding_);
                if (object < 0) {
                    complete = false;
                    continue;
                }
                const auto &with = relation.by_argument[i * task_.objects.size() + object];
                if (with.empty()) return;
                if (!list || static_cast<int32_t>(with.size()) < size) {
                    size = std::min(size, static_cast<int32_t>(with.size()));
                    list = &with;
                }
            }
            if (complete) {
                if (literal.args.size() > 1 && !holds(literal.predicate, args)) return;
                if (is_newest(j, args)) return;
                return join(rest & ~(uint64_t{1} << j), emit);
            }
            if (size < least) {
                least = size;
                best = j;
                candidates = list;
            }
        }
        const Literal &literal = rule_->positive[best];
        const Relation &relation = relations_[literal.predicate];
        int32_t count = candidates ? static_cast<int32_t>(candidates->size()) : relation.size;
        for (int32_t k = 0; k < count; ++k) {
            const int32_t *tuple =
                relation.tuples.data() + static_cast<size_t>(candidates ? (*candidates)[k] : k) * relation.arity;
            int32_t bound[LiftedTask::max_parameters];
            size_t num_bound = 0;
            if (!is_newest(best, tuple) && bind(literal, tuple, bound, num_bound))
                join(rest & ~(uint64_t{1} << best), emit);
            while (num_bound > 0) binding_[bound[--num_bound]] = -1;
        }
    }
    /// Parameters that no positive precondition binds range over their types.
    template<class Emit>
    void bind_free(size_t from, Emit &&emit) {
        for (size_t i = from; i < rule_->parameters.size(); ++i) {
            if (binding_[i] >= 0) continue;
            for (int32_t object : task_.type_members[rule_->parameters[i]]) {
                if (classes_ && !admits(static_cast<int32_t>(i), object)) continue;
                binding_[i] = object;
                bind_free(i + 1, emit);
            }
            binding_[i] = -1;
            return;
        }
        if (classes_ && !classes_->is_representative(binding_, rule_->parameters.size())) return;
        if (constraints_hold()) emit(static_cast<const int32_t *>(binding_));
    }

    const LiftedTask &task_;
    TupleTable atoms_;
    std::vector<char> truth_;
    std::vector<Relation> relations_;
    std::vector<int32_t> true_fluents_;

    const std::vector<char> *assumed_ = nullptr;
    int32_t assumed_stratum_ = -1;

    const ObjectClasses *classes_ = nullptr;
    const Rule *rule_ = nullptr;
    bool relaxed_ = false;
    int32_t trigger_ = -1;
    const int32_t *trigger_args_ = nullptr;
    int32_t binding_[LiftedTask::max_parameters];
};

}  // namespace gsp
