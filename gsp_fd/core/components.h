// Circles in a graph.
#pragma once

#include "common.h"

namespace gsp {

/// The strongly connected components of a graph given by the successors of its nodes, each after those that it leads to.
std::vector<std::vector<int32_t>> components(const std::vector<std::vector<int32_t>> &successors);

}  // namespace gsp
