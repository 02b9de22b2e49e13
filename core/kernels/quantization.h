// Between real numbers and their quantized form: real = (stored - zero point) * scale. Callable: see call.h.
//
// Parameters of both: how many elements share a scale (0: all; 1: those with the same index along the axis; 2: blocks
// along the axis), axis, size of a block.
#ifndef SLIPWAY_CORE_KERNELS_QUANTIZATION_H_
#define SLIPWAY_CORE_KERNELS_QUANTIZATION_H_

#include <stdint.h>

extern "C" {
// Inputs: x, scale, zero point (optional). Output: y. Further parameters: the Type that x, scale and the quotient are
// rounded to (kNone: the quotient alone, to the scale's type), whether 8-bit floats saturate. The quotient is rounded to
// the nearest whole number for integers, ties to even; NaN becomes the zero point.
int32_t slipway_QuantizeLinear(void** arguments);

// The same inputs. The difference and the product are rounded to the type of y.
int32_t slipway_DequantizeLinear(void** arguments);

// Input: x (f32). Outputs: y (u8), scale (f32), zero point (u8), of the range that x has together with 0. A range of
// nothing is scaled as one of 1; NaN in x does not count for the range.
int32_t slipway_DynamicQuantizeLinear(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_QUANTIZATION_H_
