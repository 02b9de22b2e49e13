// Products of quantized tensors. Sums of integers are those of 32 bits that wrap around. Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_QUANTIZED_H_
#define SLIPWAY_CORE_KERNELS_QUANTIZED_H_

#include <stdint.h>

extern "C" {
// Inputs: a, b, zero points of a (one, or one a row) and b (one, or one a column). Output: i32.
int32_t slipway_MatMulInteger(void** arguments);
// Inputs: a, its scale and zero point, b, its scale and zero point, scale and zero point of y. Output: y.
int32_t slipway_QLinearMatMul(void** arguments);

// Parameters of both: group, spatial dimensions (at most 3); then for each of these strides, dilations and pads before the
// first element.
// Inputs: x, w, zero points of x (one) and w (one, or one an output channel). Output: i32.
int32_t slipway_ConvInteger(void** arguments);
// Inputs: x, its scale and zero point, w, its scale and zero point, scale and zero point of y, bias (i32). Output: y.
int32_t slipway_QLinearConv(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_QUANTIZED_H_
