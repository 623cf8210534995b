// The weights of a network from arrays with names, those of the ONNX file. Python and task files hand them over so.
#pragma once

#include <map>

#include "network.h"

namespace gsp {

struct NetworkShape {
    struct Relation {
        std::string name;
        int64_t arity, hidden;
    };
    int64_t d = 0, layers = 0;
    std::string pool;  // as gsp_fd/model_format.py names it
    std::vector<Relation> relations;
};

using NamedArrays = std::map<std::string, std::span<const float>>;

/// InputError if there is no native code for the shape, or an array lacks or has another size. Arrays of other
/// names do not matter.
NetworkWeights weights_from(const NetworkShape &shape, const NamedArrays &arrays);

}  // namespace gsp
