// Kernels that choose among elements by their values. Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_SELECTION_H_
#define SLIPWAY_CORE_KERNELS_SELECTION_H_

#include <stdint.h>

extern "C" {
// Inputs: x, k. Outputs: values, indices. Parameters: axis, whether the largest are wanted.
int32_t slipway_TopK(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_SELECTION_H_
