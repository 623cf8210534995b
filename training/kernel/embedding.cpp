// All layers of the relational network on the CPU, forward and backward: messages of every atom, their aggregation per node, the
// residual update and its layer norm. Plain C interface on float32 and int64 arrays.
//
// Written with GCC/Clang vector extensions for several instruction sets (simd_targets.inc). Needs -ffp-contract=fast.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <new>

#include "plan.h"

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

// One call, mirrored by gsp_fd.training.fused.
struct Call {
    const Plan *plan;
    i64 d, layers;
    const float *const *w1, *const *b1, *const *w2;  // per relation: [n, h], [h], [h, n]; n = arity d, h = hidden units
    // The update X + MLP_U([X, aggregate]) and its layer norm, as torch keeps them: [2d, 2d], [2d], [d, 2d], [d], [d].
    const float *update_w1, *update_b1, *update_w2, *norm_weight, *norm_bias;
    float *buffer;  // gsp_buffer_size floats: whatever the forward pass computes; the backward pass reads it
    float *result;  // embeddings after the last layer, for each node of the batch [N, d]
    const float *grad;  // of the result; the backward pass adds to the gradients of the weights
    float *const *gw1, *const *gb1, *const *gw2;
    float *gupdate_w1, *gupdate_b1, *gupdate_w2, *gnorm_weight, *gnorm_bias;
    float alpha, limit;  // exponents alpha * m are clamped to +-limit
    int aggregation;
    int keep;   // whether there will be a backward pass
    int lanes;  // longest vectors to use
};

// The arrays of one layer in the buffer.
struct Arrays {
    const Layer *graph;
    float *x, *next;    // embeddings before [inputs, d] and after the layer [outputs, d]
    float *aggregate;   // aggregated messages [outputs, d]
    float *update_sum;  // input of the layer norm [outputs, d]
    float *sum;         // of the messages' weights [outputs, d]; not for MAX
    // Only if there will be a backward pass:
    float *pre, *update_pre;  // pre-activations of messages [units] and update [outputs, 2d]
    float *message;           // [rows, d]; not for MAX
    i32 *winner;              // the row that was the maximum, -1 for none [outputs, d]; only for MAX

    i64 size(const Call &g) const { return graph->outputs * g.d; }
};

// Arrays of all layers; returns the floats that they need. Without a backward pass layers use the same memory.
i64 lay_out(const Call &g, std::vector<Arrays> &arrays) {
    i64 used = 0, most = 0, widest = 0;
    const auto take = [&](i64 size) {
        float *start = g.buffer + used;
        used += (size + 15) / 16 * 16;
        most = std::max(most, used);
        return start;
    };
    for (i64 layer = 0; layer < g.layers; ++layer) widest = std::max(widest, g.plan->layer(layer).outputs * g.d);
    float *x = take(g.d), *turns[] = {g.keep ? nullptr : take(widest), g.keep ? nullptr : take(widest)};
    for (i64 layer = 0, start = used; layer < g.layers; ++layer, used = g.keep ? used : start) {
        const Layer &graph = g.plan->layer(layer);
        const i64 size = graph.outputs * g.d;
        Arrays a;
        a.graph = &graph;
        a.x = x;
        a.next = g.keep ? take(size) : turns[layer % 2];
        a.aggregate = take(size);
        a.update_sum = take(size);
        a.sum = g.aggregation == MAX ? nullptr : take(size);
        if (g.keep) {
            a.pre = take(graph.units);
            a.update_pre = take(2 * size);
            if (g.aggregation == MAX) a.winner = reinterpret_cast<i32 *>(take(size));
            else a.message = take(graph.rows * g.d);
        }
        x = a.next;
        arrays.push_back(a);
    }
    return most;
}

// The largest of some sizes over all relations of all layers, for scratch memory.
struct Largest {
    i64 slots = 0, hidden = 0, nodes = 1;
    explicit Largest(const std::vector<Arrays> &arrays) {
        for (const Arrays &s : arrays) {
            nodes = std::max(nodes, s.graph->outputs);
            for (const Relation &r : s.graph->relations) {
                slots = std::max(slots, static_cast<i64>(r.slot_node.size()) * r.hidden);
                hidden = std::max(hidden, r.hidden);
            }
        }
    }
};

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

#define SIMD_AVX512
#define SIMD_FILE "embedding.inc"
#include "simd_targets.inc"

using Pass = void (*)(Call);

Pass best_of(const Call &g, Pass plain, Pass with_avx2, Pass with_avx512) {
    bool whole = g.d % 16 == 0;
    for (i64 layer = 0; layer < g.layers; ++layer)
        for (const Relation &r : g.plan->layer(layer).relations) whole = whole && r.hidden % 16 == 0;
    if (whole && g.lanes >= 16 && has_avx512()) return with_avx512;
    return g.lanes >= 8 && has_avx2() ? with_avx2 : plain;
}

}  // namespace

// Changes with struct Call or its meaning; gsp_fd.training.fused refuses any other.
extern "C" int gsp_kernel_version() { return 3; }

// The plan for a batch; null if a row of `node` is not one of the `nodes`, and then `wrong` is that row.
extern "C" Plan *gsp_plan(i64 relations, const i64 *arity, const i64 *hidden, const i64 *count, const i64 *node, i64 nodes,
                          i64 layers, int aggregation, i64 *wrong) {
    const auto size = static_cast<std::size_t>(relations);
    *wrong = 0;
    for (i64 r = 0; r < relations; ++r)
        for (const i64 end = *wrong + arity[r] * count[r]; *wrong < end; ++*wrong)
            if (node[*wrong] < 0 || node[*wrong] >= nodes) return nullptr;
    return new Plan({{arity, size}, {hidden, size}, {count, size}, node, nodes}, layers, aggregation == MAX);
}

extern "C" void gsp_plan_free(Plan *plan) { delete plan; }

// Floats that the passes of a call need in its buffer.
extern "C" i64 gsp_buffer_size(const Call *call) {
    std::vector<Arrays> arrays;
    return lay_out(*call, arrays);
}

extern "C" void gsp_embed(const Call *call) {
    best_of(*call, baseline::forward, avx2::forward, avx512::forward)(*call);
}

extern "C" void gsp_embed_backward(const Call *call) {
    best_of(*call, baseline::backward, avx2::backward, avx512::backward)(*call);
}
