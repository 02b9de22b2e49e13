// Kernels of activations. Callable: see call.h. NaN goes through all of them. Each result is what the operator's formula
// gives in f64, rounded once.
#ifndef SLIPWAY_CORE_KERNELS_ACTIVATION_H_
#define SLIPWAY_CORE_KERNELS_ACTIVATION_H_

#include <stdint.h>

extern "C" {
// Input: x of floats. Parameters: the operator's attributes in the order of their names, as reals.
int32_t slipway_Celu(void** arguments);  // alpha
int32_t slipway_Mish(void** arguments);
int32_t slipway_Selu(void** arguments);  // alpha, gamma
int32_t slipway_Softplus(void** arguments);
int32_t slipway_Softsign(void** arguments);
int32_t slipway_Swish(void** arguments);            // alpha
int32_t slipway_ThresholdedRelu(void** arguments);  // alpha

// Parameter: whether by way of tanh, an approximation.
int32_t slipway_Gelu(void** arguments);

// Input: x of numbers of any type. Parameters: bias, lambd. Integers are computed with as reals, and rounded towards zero.
int32_t slipway_Shrink(void** arguments);

// Inputs: x of numbers of any type, slope, which broadcasts to it.
int32_t slipway_PRelu(void** arguments);
// Inputs: a, b of floats. Parameter: alpha. a times the sigmoid of alpha a, times b.
int32_t slipway_SwiGLU(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_ACTIVATION_H_
