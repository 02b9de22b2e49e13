// Kernels that tell extents. Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_RESHAPING_H_
#define SLIPWAY_CORE_KERNELS_RESHAPING_H_

#include <stdint.h>

extern "C" {
// Parameters: the first dimension whose extent is told; there are as many as y has elements.
int32_t slipway_Shape(void** arguments);
int32_t slipway_Size(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_RESHAPING_H_
