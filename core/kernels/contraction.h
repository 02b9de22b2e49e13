// Sums of products over labelled dimensions, and determinants. Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_CONTRACTION_H_
#define SLIPWAY_CORE_KERNELS_CONTRACTION_H_

#include <stdint.h>

extern "C" {
// Inputs: any number. Output: y. Parameters: labels, at most 16, those of y first and in its order; then for each input a
// label for each of its dimensions. Floats are summed up as doubles, integers wrap around.
int32_t slipway_Einsum(void** arguments);

// Input: square matrices [..., n, n]. Output: their determinants, by LU decomposition with the largest pivot of each
// column.
int32_t slipway_Det(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_CONTRACTION_H_
