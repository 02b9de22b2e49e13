// From one element type to another. Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_CAST_H_
#define SLIPWAY_CORE_KERNELS_CAST_H_

#include <stdint.h>

extern "C" {
// Inputs: x, and what else is there is not read. Output: y, of x's extents. Parameters: whether floats of at most 8 bits
// saturate, and Float8E8M0::Rounding. Every type of DispatchReal becomes every other: floats are rounded to nearest
// once, integers lose their higher bits. Floats out of an integer's range become its nearest value, NaN 0; those of less
// than 8 bits take the lowest bits of the i64.
int32_t slipway_Cast(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_CAST_H_
