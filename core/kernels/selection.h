// Kernels that choose among elements by their values. Callable: see call.h. Those named _count say of how many elements
// outputs will be (Call::Count).
#ifndef SLIPWAY_CORE_KERNELS_SELECTION_H_
#define SLIPWAY_CORE_KERNELS_SELECTION_H_

#include <stdint.h>

extern "C" {
// Inputs: x, k. Outputs: values, indices. Parameters: axis, whether the largest are wanted.
int32_t slipway_TopK(void** arguments);
int32_t slipway_TopK_count(void** arguments);
// Inputs: x.
int32_t slipway_NonZero(void** arguments);
int32_t slipway_NonZero_count(void** arguments);
// Inputs: x, condition. Parameters: whether x is taken as flat, axis.
int32_t slipway_Compress(void** arguments);
int32_t slipway_Compress_count(void** arguments);
// Inputs: x. Outputs: y, indices, inverse indices, counts. Parameters: whether x is taken as flat, axis, whether the
// output is sorted.
int32_t slipway_Unique(void** arguments);
int32_t slipway_Unique_count(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_SELECTION_H_
