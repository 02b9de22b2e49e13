// Kernels of functions, element by element. Callable: see call.h. NaN goes through all of them.
#ifndef SLIPWAY_CORE_KERNELS_ELEMENTWISE_H_
#define SLIPWAY_CORE_KERNELS_ELEMENTWISE_H_

#include <stdint.h>

extern "C" {
// Input: x of floats. The mathematics is that of math.h.
int32_t slipway_Acos(void** arguments);
int32_t slipway_Acosh(void** arguments);
int32_t slipway_Asin(void** arguments);
int32_t slipway_Asinh(void** arguments);
int32_t slipway_Atan(void** arguments);
int32_t slipway_Atanh(void** arguments);
int32_t slipway_Ceil(void** arguments);
int32_t slipway_Cos(void** arguments);
int32_t slipway_Cosh(void** arguments);
int32_t slipway_Erf(void** arguments);
int32_t slipway_Exp(void** arguments);
int32_t slipway_Floor(void** arguments);
int32_t slipway_Log(void** arguments);
int32_t slipway_Reciprocal(void** arguments);
int32_t slipway_Round(void** arguments);
int32_t slipway_Sin(void** arguments);
int32_t slipway_Sinh(void** arguments);
int32_t slipway_Sqrt(void** arguments);
int32_t slipway_Tan(void** arguments);
int32_t slipway_Tanh(void** arguments);

// The same. Parameters: the operator's attributes in the order of their names, as reals.
int32_t slipway_Elu(void** arguments);          // alpha
int32_t slipway_HardSigmoid(void** arguments);  // alpha, beta
int32_t slipway_HardSwish(void** arguments);
int32_t slipway_LeakyRelu(void** arguments);  // alpha
int32_t slipway_Sigmoid(void** arguments);

// Input: x of numbers of any type. The lowest integer is its own negative, as in two's complement.
int32_t slipway_Abs(void** arguments);
int32_t slipway_Neg(void** arguments);
int32_t slipway_Relu(void** arguments);
int32_t slipway_Sign(void** arguments);
// Inputs: x, and where present the lowest and the highest number that remain: min(max(x, low), high), whatever their
// order.
int32_t slipway_Clip(void** arguments);

// As while nothing is dropped. Input: x. Outputs: x, and bool that is true throughout.
int32_t slipway_Dropout(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_ELEMENTWISE_H_
