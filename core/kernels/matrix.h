// Matrix products. Floats are summed up as doubles and rounded once, integers wrap around. Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_MATRIX_H_
#define SLIPWAY_CORE_KERNELS_MATRIX_H_

#include <stdint.h>

extern "C" {
// Inputs: a [..., m, k] and b [..., k, n], whose first dimensions broadcast; a vector is a row on the left, a column on the
// right. Output: y.
int32_t slipway_MatMul(void** arguments);

// Inputs: a, b, c, which broadcasts to y. Output: y = alpha * a * b + beta * c. Parameters: whether a and b are to be
// transposed; alpha, beta (reals; for integers their whole part).
int32_t slipway_Gemm(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_MATRIX_H_
