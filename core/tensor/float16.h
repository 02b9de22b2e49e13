// IEEE 754 binary16 and bfloat16 to and from binary32, bit for bit.
#ifndef SLIPWAY_CORE_TENSOR_FLOAT16_H_
#define SLIPWAY_CORE_TENSOR_FLOAT16_H_

#include <cstdint>

namespace slipway {

// Exact: every half is a float. Infinities and NaN stay what they are.
float Float16ToFloat(uint16_t half);

// Rounds to nearest, ties to even; too large becomes infinity; NaN becomes a quiet NaN.
uint16_t FloatToFloat16(float value);

// The same for bfloat16, the upper half of a float.
float Bfloat16ToFloat(uint16_t brain);
uint16_t FloatToBfloat16(float value);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TENSOR_FLOAT16_H_
