#include "network_kernel.h"

#include <cmath>
#include <cstring>
#include <memory>

namespace gsp {
namespace {

using i64 = int64_t;

// Rows per block: a block's activations stay in the L1 cache; a multiple of the micro-kernel's six rows.
constexpr i64 BLOCK = 48;
constexpr float LAYER_NORM_EPSILON = 1e-5f;

std::unique_ptr<float[]> scratch(i64 size) { return std::make_unique_for_overwrite<float[]>(static_cast<size_t>(size)); }

#define SIMD_FILE "network_kernel.inc"
#include "simd_targets.inc"

}  // namespace

void pass_messages(const RelationMessages &call) { has_avx2() ? avx2::pass_messages(call) : baseline::pass_messages(call); }

void multiply(int64_t rows, int64_t inputs, int64_t columns, const float *x, const float *w, const float *bias, float *result) {
    (has_avx2() ? avx2::multiply : baseline::multiply)(rows, inputs, columns, x, w, bias, result);
}

void apply(const Mlp &mlp, int64_t rows, const float *x, float *result) {
    (has_avx2() ? avx2::apply_mlp : baseline::apply_mlp)(mlp, rows, x, result);
}

void update(const Mlp &mlp, const float *norm_weight, const float *norm_bias, int64_t rows, const float *const *before,
            const float *aggregated, float *result) {
    (has_avx2() ? avx2::update : baseline::update)(mlp, norm_weight, norm_bias, rows, before, aggregated, result);
}

}  // namespace gsp
