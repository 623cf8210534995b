// hmax, hadd and hFF over a delete relaxation.
#pragma once

#include "relaxed_task.h"

namespace gsp {

enum class RelaxedKind { hmax, hadd, hff };

/// The result may serve several searches one after another, on states of the same task.
std::shared_ptr<Heuristic> make_relaxed(RelaxedKind kind, std::shared_ptr<const RelaxedTask> task, std::string name);

}  // namespace gsp
