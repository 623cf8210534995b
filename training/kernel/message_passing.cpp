// Fused relational message passing on the CPU: gather -> MLP with SiLU per relation -> aggregation per node,
// forward and backward, without materialising what lies between. Plain C interface on float32 / int64 arrays.
//
// Written with GCC/Clang vector extensions for several instruction sets (simd_targets.inc). Needs -ffp-contract=fast.
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

using i64 = std::int64_t;

// Calls a function template for the call's aggregation, outside the inner loops.
#define DISPATCH(function, g, ...)                                            \
    ((g).aggregation == MAX         ? function<MAX>(g __VA_OPT__(, ) __VA_ARGS__)       \
     : (g).aggregation == SMOOTHMAX ? function<SMOOTHMAX>(g __VA_OPT__(, ) __VA_ARGS__) \
                                    : function<LOGSUMEXP>(g __VA_OPT__(, ) __VA_ARGS__))

namespace {

// Atoms per block: a block's activations stay in the L1 cache; a multiple of the micro-kernel's six rows.
constexpr i64 BLOCK = 48;

enum Aggregation : int { MAX = 0, SMOOTHMAX = 1, LOGSUMEXP = 2 };

// One call, mirrored by gsp_fd.training.fused. Forward reads x ... w2 and writes out and sum; pre and message keep what
// backward needs and may be null. Backward reads all of these and grad, takes w1 and w2 transposed, writes gx and adds
// to the gradients of the weights. Without x there is neither pre nor gx.
struct Call {
    const float *x;      // embeddings [nodes, d]; null if all are 0, as in the first layer
    const i64 *arity;    // [relations]
    const i64 *hidden;   // hidden units of each relation's MLP, multiples of 8
    const i64 *count;    // atoms of each relation
    const i64 *index;    // node of each argument of each atom, relation by relation: [rows]
    const float *const *w1, *const *b1, *const *w2;  // per relation: [n, h], [h], [h, n]; n = arity d, h = hidden
    float *pre;                             // pre-activations, relation by relation: [atoms, h] each
    float *message;                         // [rows, d]
    float *sum, *out;                       // [nodes, d]
    const float *grad;                      // [nodes, d]
    float *gx;                              // [nodes, d]
    float *const *gw1, *const *gb1, *const *gw2;
    i64 nodes, d, relations;  // d is a multiple of 8
    float alpha, limit;       // exponents alpha * m are clamped to +-limit
    int aggregation;
};

#define SIMD_FILE "message_passing.inc"
#include "simd_targets.inc"

}  // namespace

// Changes with struct Call or its meaning; gsp_fd.training.fused refuses any other.
extern "C" int gsp_kernel_version() { return 2; }

extern "C" void gsp_messages_forward(const Call *call) {
    has_avx2() ? avx2::forward(*call) : baseline::forward(*call);
}

extern "C" void gsp_messages_backward(const Call *call) {
    has_avx2() ? avx2::backward(*call) : baseline::backward(*call);
}
