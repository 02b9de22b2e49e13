// Kernels of arithmetic. Callable: see call.h. The output has the shape the inputs broadcast to. Integers wrap around;
// NaN goes through.
#ifndef SLIPWAY_CORE_KERNELS_ARITHMETIC_H_
#define SLIPWAY_CORE_KERNELS_ARITHMETIC_H_

#include <stdint.h>

extern "C" {
// Inputs: a, b of one type.
int32_t slipway_Add(void** arguments);
int32_t slipway_Sub(void** arguments);
int32_t slipway_Mul(void** arguments);
// Of integers, towards zero; an integer divided by 0 fails.
int32_t slipway_Div(void** arguments);
// What is left of a after whole multiples of b. Parameter: whether it has the sign of a, as C's fmod, and not that of b.
// Of integers, b = 0 fails.
int32_t slipway_Mod(void** arguments);

// Inputs: base, exponent, each of its own type. Output: of the base's type. Whole powers of integers wrap around; those
// with a negative exponent are rounded towards zero, where 0 has none and stays 0. What an exponent with a fraction gives
// is rounded towards zero and saturates.
int32_t slipway_Pow(void** arguments);

// Inputs: any number, of one type. Floats are summed in f64.
int32_t slipway_Sum(void** arguments);
int32_t slipway_Mean(void** arguments);
int32_t slipway_Min(void** arguments);
int32_t slipway_Max(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_ARITHMETIC_H_
