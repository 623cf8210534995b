#include "network_weights.h"

namespace gsp {
namespace {

constexpr int64_t MAX_WIDTH = 1 << 16;  // sizes of arrays stay far from overflow
constexpr int64_t MAX_LAYERS = 1000;    // a number that a file states, and that decides how long a call takes

bool is_width(int64_t units) { return units >= 8 && units % 8 == 0 && units <= MAX_WIDTH; }

/// An array by name, of this size.
std::vector<float> array(const NamedArrays &arrays, const std::string &name, int64_t size) {
    auto found = arrays.find(name);
    if (found == arrays.end()) throw InputError("there are no weights " + name);
    if (static_cast<int64_t>(found->second.size()) != size) throw InputError("the weights " + name + " have another size");
    return {found->second.begin(), found->second.end()};
}

Mlp mlp_from(const NamedArrays &arrays, const std::string &name, int64_t inputs, int64_t hidden, int64_t outputs, bool bias) {
    return {inputs, hidden, outputs, array(arrays, name + ".w1", inputs * hidden), array(arrays, name + ".b1", hidden),
            array(arrays, name + ".w2", hidden * outputs), bias ? array(arrays, name + ".b2", outputs) : std::vector<float>{}};
}

/// An MLP with one output, padded to the eight that the arithmetic wants.
Mlp value_from(const NamedArrays &arrays, const std::string &name, int64_t inputs) {
    Mlp mlp = mlp_from(arrays, name, inputs, 2 * inputs, 1, true);
    std::vector<float> padded(8 * mlp.w2.size());
    for (size_t i = 0; i < mlp.w2.size(); ++i) padded[8 * i] = mlp.w2[i];
    mlp.w2 = std::move(padded);
    mlp.b2.resize(8);
    mlp.outputs = 8;
    return mlp;
}

Pool pool_from(const std::string &name) {
    if (name == "phi") return Pool::phi;
    if (name == "sum") return Pool::sum;
    if (name == "mean") return Pool::mean;
    throw InputError("unknown pool '" + name + "'");
}

}  // namespace

NetworkWeights weights_from(const NetworkShape &shape, const NamedArrays &arrays) {
    const int64_t d = shape.d;
    if (!is_width(d) || shape.layers < 1 || shape.layers > MAX_LAYERS)
        throw InputError("d must be a multiple of 8, at most " + std::to_string(MAX_WIDTH) + ", and there are 1 to " +
                         std::to_string(MAX_LAYERS) + " layers");
    NetworkWeights out;
    out.d = d;
    out.layers = shape.layers;
    out.pool = pool_from(shape.pool);
    for (const auto &[name, arity, hidden] : shape.relations) {
        if (arity < 1 || arity > MAX_ARITY || !is_width(hidden))
            throw InputError("relation " + name + ": arities are 1 to " + std::to_string(MAX_ARITY) +
                             ", and hidden units come in multiples of 8, at most " + std::to_string(MAX_WIDTH));
        out.relations.push_back(mlp_from(arrays, name, arity * d, hidden, arity * d, false));
    }
    out.update = mlp_from(arrays, "update", 2 * d, 2 * d, d, false);
    out.norm_weight = array(arrays, "norm.weight", d);
    out.norm_bias = array(arrays, "norm.bias", d);
    if (out.pool == Pool::phi) out.phi = mlp_from(arrays, "phi", d, d, d, true);
    out.action_value = value_from(arrays, "readout", d);
    out.state_value = value_from(arrays, "value", d);
    return out;
}

}  // namespace gsp
