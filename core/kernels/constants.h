// Kernels that make values out of little. Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_CONSTANTS_H_
#define SLIPWAY_CORE_KERNELS_CONSTANTS_H_

#include <stdint.h>

extern "C" {
// Inputs: shape. Parameters: the bytes of the element, 16 of them.
int32_t slipway_ConstantOfShape(void** arguments);
int32_t slipway_ConstantOfShape_extents(void** arguments);
// Inputs: x. Parameters: the diagonal.
int32_t slipway_EyeLike(void** arguments);
// Inputs: start, limit, delta. Element i is start + i * delta, rounded once.
int32_t slipway_Range(void** arguments);
int32_t slipway_Range_count(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_CONSTANTS_H_
