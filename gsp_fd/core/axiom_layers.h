// The order in which ground axioms are evaluated.
#pragma once

#include "grounder.h"

namespace gsp {

/// Derived atoms that depend on each other and on the negation of one of them.
struct NotStratified : InputError {
    explicit NotStratified(std::vector<int32_t> predicates);
    std::vector<int32_t> predicates;
};

/// Leaves out axioms that never fire, and those of atoms that others make true in every state: with them go circles through
/// negation that decide nothing.
void settle_axioms(const LiftedTask &task, Grounding &grounding);

/// Per atom of the grounding, -1 for those that no axiom derives: axioms need atoms of their own layer and of lower ones, and
/// negate atoms of lower ones only. Where the predicates are not stratified, the atoms may be: NotStratified if some that
/// actions or goals depend on are not either.
std::vector<int32_t> axiom_layers(const LiftedTask &task, const Grounding &grounding, Watch &watch);

}  // namespace gsp
