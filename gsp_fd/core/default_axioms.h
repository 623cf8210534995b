// How derived variables come to have their default values.
#pragma once

#include "ground_task.h"

namespace gsp {

/// By axioms of their own; or always, which costs less and says less.
enum class AxiomHandling { approximate_negative, approximate_negative_cycles };

/// Axioms that give derived variables their default values, as far as those are needed anywhere.
std::vector<Axiom> default_value_axioms(const GroundTask &task, AxiomHandling handling, Watch &watch);

}  // namespace gsp
