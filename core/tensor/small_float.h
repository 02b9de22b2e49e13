// Floats of at most 8 bits (OCP's 8-bit and microscaling formats, and the variants without negative zero) as binary32.
#ifndef SLIPWAY_CORE_TENSOR_SMALL_FLOAT_H_
#define SLIPWAY_CORE_TENSOR_SMALL_FLOAT_H_

#include <cstdint>

#include "core/tensor/dtype.h"

namespace slipway {

// Whether elements of the type are floats of at most 8 bits.
bool IsSmallFloat(DataType dtype);

// Exact. REQUIRES: IsSmallFloat(dtype), and `bits` is an element of it.
float SmallFloatToFloat(DataType dtype, uint8_t bits);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TENSOR_SMALL_FLOAT_H_
