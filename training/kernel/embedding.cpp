// All layers of the relational network on the CPU, forward and backward: messages of every atom, their aggregation per node, the
// residual update and its layer norm. Plain C interface on float32, int32 and int64 arrays.
//
// Written with GCC/Clang vector extensions for several instruction sets (simd_targets.inc). Needs -ffp-contract=fast.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <new>
#include <unordered_map>
#include <vector>

#include "common.h"

using i32 = std::int32_t;
using i64 = std::int64_t;

// Calls a function template for the call's aggregation, outside the inner loops.
#define DISPATCH(function, g, ...)                                    \
    ((g).aggregation == MAX         ? function<MAX>(g, __VA_ARGS__)       \
     : (g).aggregation == SMOOTHMAX ? function<SMOOTHMAX>(g, __VA_ARGS__) \
                                    : function<LOGSUMEXP>(g, __VA_ARGS__))

namespace {

// Rows per block: a block's activations stay in the L1 cache; a multiple of the micro-kernel's six rows.
constexpr i64 BLOCK = 48;
constexpr float LAYER_NORM_EPSILON = 1e-5f;

enum Aggregation : int { MAX = 0, SMOOTHMAX = 1, LOGSUMEXP = 2 };

// One call, mirrored by gsp_fd.training.fused. The forward pass keeps what the backward pass reads, one array per layer, or
// with keep = 0 uses one array for all layers (x: two in turns).
struct Call {
    i64 batch_nodes, d, layers, relations;
    const i64 *arity, *hidden;  // per relation; hidden: units of its MLP
    // Made by gsp_plan. Nodes that cannot be told apart are computed once: `nodes` counts those that are left. A slot is a node
    // that occurs at some position of a relation: the first layer of an MLP is a sum over the positions, and each term is
    // computed once per slot instead of once per atom.
    i64 nodes, rows, units;  // rows: arguments of all atoms; units: hidden units of all atoms
    i64 *count;      // atoms of each relation; gsp_plan leaves out those of nodes that are not computed
    i32 *computed;   // the node that is computed for each node of the batch [batch_nodes]
    i32 *node;       // of every argument of every atom, relation by relation [rows]
    i32 *slot;       // its number among the slots of its relation [rows]
    i32 *slot_node;  // [slots], relation by relation, position by position
    i64 *slot_end;   // per relation and position, counted from the first slot of the relation
    const float *const *w1, *const *b1, *const *w2;  // per relation: [n, h], [h], [h, n]; n = arity d, h = hidden
    // The update X + MLP_U([X, aggregate]), layer norm; weights as torch keeps them: [2d, 2d], [2d], [d, 2d], [d], [d].
    const float *update_w1, *update_b1, *update_w2, *norm_weight, *norm_bias;
    float *result;      // embeddings after the last layer [batch_nodes, d]
    float *x;           // after each layer [layers, nodes, d]
    float *aggregate;   // aggregated messages [layers, nodes, d]
    float *sum;         // of their weights [layers, nodes, d]; not for MAX
    i32 *winner;        // the row that was the maximum, -1 for none [layers, nodes, d]; only for MAX, null if keep = 0
    float *message;     // [layers, rows, d]; only kept, and not for MAX
    float *pre;         // pre-activations of the messages, from the second layer on [layers - 1, units]; only kept
    float *update_pre;  // of the update [layers, nodes, 2d]; only kept
    float *update_sum;  // the input of the layer norm [layers, nodes, d]
    // Backward: adds to the gradients of the weights.
    const float *grad;  // of the result
    float *const *gw1, *const *gb1, *const *gw2;
    float *gupdate_w1, *gupdate_b1, *gupdate_w2, *gnorm_weight, *gnorm_bias;
    float alpha, limit;  // exponents alpha * m are clamped to +-limit
    int aggregation, keep;
    int lanes;  // longest vectors to use

    i64 size() const { return nodes * d; }
    // Embeddings before a layer; null means 0.
    float *input(i64 layer) const { return layer == 0 ? nullptr : output(layer - 1); }
    float *output(i64 layer) const { return x + (keep ? layer : layer % 2) * size(); }
    template<class T> T *of_layer(T *array, i64 layer, i64 length) const { return array + (keep ? layer * length : 0); }
};

// The atoms of one relation within the arrays of a call.
struct Relation {
    i64 number, arity, hidden, count;
    i64 row, unit, slot, position;  // its first row, hidden unit, slot and entry of slot_end
    i64 slots, width;               // width: arity d
};

// The relations that have atoms.
std::vector<Relation> relations_of(const Call &g) {
    std::vector<Relation> result;
    i64 row = 0, unit = 0, slot = 0, position = 0;
    for (i64 p = 0; p < g.relations; ++p) {
        const i64 slots = g.slot_end[position + g.arity[p] - 1];
        if (g.count[p])
            result.push_back({p, g.arity[p], g.hidden[p], g.count[p], row, unit, slot, position, slots, g.arity[p] * g.d});
        row += g.count[p] * g.arity[p];
        unit += g.count[p] * g.hidden[p];
        slot += slots;
        position += g.arity[p];
    }
    return result;
}

// Memory for this many floats, not set, at a multiple of the longest vector: loads across cache lines cost twice.
struct Aligned {
    explicit Aligned(i64 size) : data(static_cast<float *>(::operator new(sizeof(float) * size, ALIGNMENT))) {}
    Aligned(const Aligned &) = delete;
    ~Aligned() { ::operator delete(data, ALIGNMENT); }
    static constexpr std::align_val_t ALIGNMENT{64};
    float *const data;
};

// to[columns, rows] = from[rows, columns] transposed, or += that.
void transpose(i64 rows, i64 columns, const float *from, float *to, bool accumulate = false) {
    for (i64 i = 0; i < rows; ++i)
        for (i64 j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j] + (accumulate ? to[j * rows + i] : 0.0f);
}

// Merges nodes that occur in no atom with others, such as walls: those in the same unary relations stay equal in all layers.
void merge_nodes(Call &g, const i64 *index) {
    std::vector<std::uint64_t> colour(g.batch_nodes, 1);
    std::vector<char> linked(g.batch_nodes, 0);
    const i64 *row = index;
    for (i64 p = 0; p < g.relations; ++p)
        for (const i64 *end = row + g.count[p] * g.arity[p]; row < end; ++row) {
            if (g.arity[p] > 1) linked[*row] = 1;
            else colour[*row] = gsp::mix(colour[*row] + static_cast<std::uint64_t>(p));
        }
    std::unordered_map<std::uint64_t, i32> known;
    std::vector<char> first(g.batch_nodes, 1);
    g.nodes = 0;
    for (std::size_t n = 0; n < first.size(); ++n) {
        const auto next = static_cast<i32>(g.nodes);
        g.computed[n] = linked[n] ? next : known.try_emplace(colour[n], next).first->second;
        first[n] = g.computed[n] == next;
        g.nodes += first[n];
    }
    i32 *node = g.node;
    row = index;
    g.units = 0;
    for (i64 p = 0; p < g.relations; ++p) {
        const i32 *start = node;
        for (const i64 *end = row + g.count[p] * g.arity[p]; row < end; ++row)
            if (g.arity[p] > 1 || first[*row]) *node++ = g.computed[*row];
        g.count[p] = (node - start) / g.arity[p];
        g.units += g.count[p] * g.hidden[p];
    }
    g.rows = node - g.node;
}

void find_slots(const Call &g) {
    std::vector<i32> last(g.nodes, -1), place(g.nodes);
    i64 row = 0, position = 0, slot = 0;
    for (i64 p = 0; p < g.relations; row += g.count[p] * g.arity[p], ++p) {
        const i64 first = slot;
        for (i64 a = 0; a < g.arity[p]; ++a, ++position) {
            for (i64 i = row + a; i < row + g.count[p] * g.arity[p]; i += g.arity[p]) {
                const i32 node = g.node[i];
                if (last[node] != position) {
                    last[node] = static_cast<i32>(position);
                    place[node] = static_cast<i32>(slot - first);
                    g.slot_node[slot++] = node;
                }
                g.slot[i] = place[node];
            }
            g.slot_end[position] = slot - first;
        }
    }
}

#define SIMD_AVX512
#define SIMD_FILE "embedding.inc"
#include "simd_targets.inc"

// Whether all widths are multiples of the length of a vector.
bool whole(const Call &g, i64 lanes) {
    return g.lanes >= lanes && g.d % lanes == 0 &&
           std::all_of(g.hidden, g.hidden + g.relations, [&](i64 h) { return h % lanes == 0; });
}

}  // namespace

// Changes with struct Call or its meaning; gsp_fd.training.fused refuses any other.
extern "C" int gsp_kernel_version() { return 3; }

// Takes the nodes of all atoms and the counts of the relations' atoms; returns the row of the first that is not there, or -1.
extern "C" i64 gsp_plan(Call *call, const i64 *index) {
    Call &g = *call;
    g.rows = 0;
    for (i64 p = 0; p < g.relations; ++p) g.rows += g.count[p] * g.arity[p];
    for (i64 i = 0; i < g.rows; ++i)
        if (index[i] < 0 || index[i] >= g.batch_nodes) return i;
    merge_nodes(g, index);
    find_slots(g);
    return -1;
}

extern "C" void gsp_embed(const Call *call) {
    if (has_avx512() && whole(*call, 16)) return avx512::forward(*call);
    has_avx2() && call->lanes >= 8 ? avx2::forward(*call) : baseline::forward(*call);
}

extern "C" void gsp_embed_backward(const Call *call) {
    if (has_avx512() && whole(*call, 16)) return avx512::backward(*call);
    has_avx2() && call->lanes >= 8 ? avx2::backward(*call) : baseline::backward(*call);
}
