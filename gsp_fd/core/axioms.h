// The derived atoms of a state: the rules of derived predicates, stratum by stratum, to a fixed point in each. A stratum may
// negate its own predicates, as long as no atom depends on its own negation: there its well-founded model is what its atoms
// mean, if they are taken in an order in which what is negated comes first.
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
        int32_t number;
        std::span<const Rule> rules;
        /// (predicate of the stratum, rule, positive literal of it); none if no rule needs an atom of its own stratum.
        std::vector<std::array<int32_t, 3>> readers;
        bool is_static = true;         // depends on no atom that is stored in states
        bool known = false;            // static, and derived before
        bool negates_itself = false;
        std::vector<int32_t> derived;
    };
    static bool depends_on_states(const Stratum &stratum, const std::vector<Stratum> &below, const LiftedTask &task);
    void derive(Stratum &stratum, Database &database, Watch *watch);
    void derive_least_model(Stratum &stratum, Database &database, Watch *watch);
    void derive_well_founded_model(Stratum &stratum, Database &database, Watch *watch);

    std::vector<Stratum> strata_;
    std::vector<int64_t> found_;  // per atom: the last model that it is in
    int64_t models_ = 0;
    std::vector<char> assumed_;  // per atom: whether negations take it for true, in a stratum that negates itself
};

}  // namespace gsp
