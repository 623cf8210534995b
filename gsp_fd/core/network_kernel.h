// The arithmetic of the relational network on float32 arrays, for the widest instruction set that the machine has.
#pragma once

#include <cstdint>
#include <vector>

namespace gsp {

constexpr int64_t MAX_ARITY = 8;

/// One hidden layer with SiLU; w1 [inputs, hidden], w2 [hidden, outputs]; hidden and outputs are multiples of 8.
struct Mlp {
    int64_t inputs = 0, hidden = 0, outputs = 0;
    std::vector<float> w1, b1, w2, b2;  // an empty b2 is zero
};

/// A row of the aggregate that takes a message, and the next one that takes the same; -1 ends the list.
struct Receiver {
    int32_t row, next;
};

/// Messages of the tuples of one relation, brought to their receivers by maximum.
struct RelationMessages {
    int64_t tuples, arity, d, hidden;
    const float *projected[MAX_ARITY];  // per position: products with its part of w1, [rows, hidden]
    const int32_t *projected_row;       // per tuple and position
    const float *w2;                    // [hidden, arity d]
    const int32_t *first_receiver;      // per tuple and position, -1 for none
    const Receiver *receivers;
    float *aggregated;                  // [rows, d]
};

void pass_messages(const RelationMessages &call);
/// result[rows, columns] = x[rows, inputs] w[inputs, columns] (+ bias)
void multiply(int64_t rows, int64_t inputs, int64_t columns, const float *x, const float *w, const float *bias, float *result);
/// result[rows, outputs] = mlp(x[rows, inputs])
void apply(const Mlp &mlp, int64_t rows, const float *x, float *result);
/// result[rows, d] = before + mlp([before, aggregated]), normalised by layer norm.
void update(const Mlp &mlp, const float *norm_weight, const float *norm_bias, int64_t rows, const float *const *before,
            const float *aggregated, float *result);

}  // namespace gsp
