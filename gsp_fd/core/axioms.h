// The derived atoms of a state: the rules of derived predicates, stratum by stratum, to a fixed point in each.
#pragma once

#include <array>

#include "database.h"

namespace gsp {

class Axioms {
public:
    explicit Axioms(const LiftedTask &task);

    bool empty() const { return strata_.empty(); }
    /// Adds all derived atoms to a database that holds the atoms of a state; `derived` lists them.
    void derive(std::span<const int32_t> atoms, Database &database, Watch *watch, std::vector<int32_t> &derived);

private:
    struct Stratum {
        std::span<const Rule> rules;
        /// (predicate of the stratum, rule, positive literal of it); none if no rule needs an atom of its own stratum.
        std::vector<std::array<int32_t, 3>> readers;
        std::vector<char> inputs;      // by predicate: stored ones on which it depends
        std::vector<int32_t> derived;  // for the last state; the same for the next one if the inputs are
        bool known = false;
    };
    void find_inputs(const LiftedTask &task);
    /// Compares the atoms of a state with those of the last one.
    void find_changes(std::span<const int32_t> atoms, const TupleTable &table);
    bool is_unchanged(const Stratum &stratum) const;
    void derive(Stratum &stratum, Database &database, Watch *watch);

    std::vector<Stratum> strata_;
    std::vector<std::vector<int32_t>> last_, next_;  // atoms of a state by predicate
    std::vector<char> changed_;                      // by predicate
    std::vector<int64_t> found_;  // per atom: the last call that derived it
    int64_t calls_ = 0;
};

}  // namespace gsp
