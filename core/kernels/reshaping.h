// Kernels that tell extents, or give elements other ones. Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_RESHAPING_H_
#define SLIPWAY_CORE_KERNELS_RESHAPING_H_

#include <stdint.h>

extern "C" {
// Parameters: the first dimension whose extent is told; there are as many as y has elements.
int32_t slipway_Shape(void** arguments);
int32_t slipway_Size(void** arguments);
// Copy x under other extents, which inputs say. Inputs: x, shape. Parameters: whether 0 is an extent, not a copied one.
int32_t slipway_Reshape(void** arguments);
int32_t slipway_Reshape_extents(void** arguments);
// Inputs: x, axes.
int32_t slipway_Squeeze(void** arguments);
int32_t slipway_Squeeze_extents(void** arguments);
int32_t slipway_Unsqueeze(void** arguments);
int32_t slipway_Unsqueeze_extents(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_RESHAPING_H_
