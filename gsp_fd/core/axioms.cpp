#include "axioms.h"

namespace gsp {

Axioms::Axioms(const LiftedTask &task) {
    for (size_t s = 0; s < task.axioms.size(); ++s) {
        Stratum stratum;
        stratum.number = static_cast<int32_t>(s);
        stratum.rules = task.axioms[s];
        for (size_t r = 0; r < stratum.rules.size(); ++r)
            for (size_t j = 0; j < stratum.rules[r].positive.size(); ++j) {
                int32_t predicate = stratum.rules[r].positive[j].predicate;
                if (task.stratum[predicate] == static_cast<int32_t>(s))
                    stratum.readers.push_back({predicate, static_cast<int32_t>(r), static_cast<int32_t>(j)});
            }
        stratum.negates_itself = std::any_of(stratum.rules.begin(), stratum.rules.end(), [&](const Rule &rule) {
            return std::any_of(rule.negative.begin(), rule.negative.end(), [&](const Literal &literal) {
                return task.stratum[literal.predicate] == stratum.number;
            });
        });
        stratum.is_static = !depends_on_states(stratum, strata_, task);
        strata_.push_back(std::move(stratum));
    }
}

bool Axioms::depends_on_states(const Stratum &stratum, const std::vector<Stratum> &below, const LiftedTask &task) {
    for (const Rule &rule : stratum.rules)
        for (const auto *part : {&rule.positive, &rule.negative})
            for (const Literal &literal : *part) {
                auto level = static_cast<size_t>(task.stratum[literal.predicate]);
                if (task.is_stored(literal.predicate)) return true;
                if (level < below.size() && !below[level].is_static) return true;
            }
    return false;
}

void Axioms::derive(Database &database, Watch *watch, std::vector<int32_t> &derived) {
    derived.clear();
    const ObjectClasses *classes = database.set_classes(nullptr);
    try {
        for (Stratum &stratum : strata_) {
            if (stratum.known) {
                for (int32_t atom : stratum.derived) database.add(atom);
            } else {
                derive(stratum, database, watch);
                stratum.known = stratum.is_static;
            }
            derived.insert(derived.end(), stratum.derived.begin(), stratum.derived.end());
        }
    } catch (...) {
        database.assume(-1, nullptr);
        database.set_classes(classes);
        throw;
    }
    database.set_classes(classes);
}

void Axioms::derive(Stratum &stratum, Database &database, Watch *watch) {
    if (stratum.negates_itself) derive_well_founded_model(stratum, database, watch);
    else derive_least_model(stratum, database, watch);
}

/// Alternates: what follows if nothing more is true than was shown to be, is all that may be true; what follows if all that is
/// negated, is true.
void Axioms::derive_well_founded_model(Stratum &stratum, Database &database, Watch *watch) {
    const size_t below = database.num_fluents();
    auto derive_assuming = [&](const std::vector<int32_t> &atoms) {
        std::fill(assumed_.begin(), assumed_.end(), 0);
        assumed_.resize(database.atoms().size(), 0);
        for (int32_t atom : atoms) assumed_[atom] = 1;
        database.forget(below);
        derive_least_model(stratum, database, watch);
    };
    stratum.derived.clear();
    database.assume(stratum.number, &assumed_);
    for (size_t shown = 0;; shown = stratum.derived.size()) {
        derive_assuming(std::vector<int32_t>(stratum.derived));
        derive_assuming(std::vector<int32_t>(stratum.derived));
        if (stratum.derived.size() == shown) break;
    }
    database.assume(-1, nullptr);
}

/// Semi-naive: what follows without atoms of the stratum, then every one of those in turn is the newest.
void Axioms::derive_least_model(Stratum &stratum, Database &database, Watch *watch) {
    ++models_;
    std::vector<int32_t> &derived = stratum.derived;
    derived.clear();
    int32_t args[LiftedTask::max_parameters];
    auto emit = [&](const Literal &head, const int32_t *binding) {
        for (size_t i = 0; i < head.args.size(); ++i) args[i] = ground_term(head.args[i], binding);
        int32_t atom = database.intern(head.predicate, args);
        if (static_cast<size_t>(atom) >= found_.size()) found_.resize(atom + atom / 2 + 1024, 0);
        if (std::exchange(found_[atom], models_) == models_) return;
        derived.push_back(atom);
        if (watch && derived.size() % 1024 == 0) watch->throw_if_expired();
    };
    for (const Rule &rule : stratum.rules)
        database.match(rule, false, [&](const int32_t *binding) { emit(rule.add[0], binding); });
    int32_t newest[LiftedTask::max_parameters];
    for (size_t next = 0; next < derived.size(); ++next) {
        int32_t atom = derived[next];
        database.add(atom);
        int32_t predicate = database.atoms().symbol(atom);
        const int32_t *stored = database.atoms().args(atom);
        std::copy(stored, stored + database.atoms().count(atom), newest);
        for (auto [read, r, j] : stratum.readers)
            if (read == predicate)
                database.match_newest(stratum.rules[r], j, newest, false, [&, &rule = stratum.rules[r]](const int32_t *binding) {
                    emit(rule.add[0], binding);
                });
    }
}

}  // namespace gsp
