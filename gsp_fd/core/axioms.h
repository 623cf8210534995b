// The derived atoms of a state: the rules of derived predicates, stratum by stratum, to a fixed point in each.
#pragma once

#include <array>

#include "database.h"

namespace gsp {

class Axioms {
public:
    explicit Axioms(const LiftedTask &task);

    bool empty() const { return strata_.empty(); }
    /// Adds all derived atoms to a database that holds the stored ones; `derived` lists them.
    void derive(Database &database, Watch *watch, std::vector<int32_t> &derived);

private:
    struct Stratum {
        std::span<const Rule> rules;
        /// (predicate of the stratum, rule, positive literal of it); none if no rule needs an atom of its own stratum.
        std::vector<std::array<int32_t, 3>> readers;
    };
    void derive(const Stratum &stratum, Database &database, Watch *watch, std::vector<int32_t> &derived);

    std::vector<Stratum> strata_;
    std::vector<int64_t> found_;  // per atom: the last call that derived it
    int64_t calls_ = 0;
};

}  // namespace gsp
