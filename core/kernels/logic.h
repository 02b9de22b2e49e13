// Kernels of comparisons and of what is true or false. Callable: see call.h. NaN equals nothing and is on no side of
// anything.
#ifndef SLIPWAY_CORE_KERNELS_LOGIC_H_
#define SLIPWAY_CORE_KERNELS_LOGIC_H_

#include <stdint.h>

extern "C" {
// Inputs: a, b of one type. Output: bool of the shape they broadcast to.
int32_t slipway_Equal(void** arguments);
int32_t slipway_Greater(void** arguments);
int32_t slipway_GreaterOrEqual(void** arguments);
int32_t slipway_Less(void** arguments);
int32_t slipway_LessOrEqual(void** arguments);
// The same of bool.
int32_t slipway_And(void** arguments);
int32_t slipway_Or(void** arguments);
int32_t slipway_Xor(void** arguments);
int32_t slipway_Not(void** arguments);

// Input: x of floats. Output: bool.
int32_t slipway_IsNaN(void** arguments);
// Parameters: whether negative, whether positive infinity counts.
int32_t slipway_IsInf(void** arguments);

// Inputs: condition, a, b. Output: of the shape they broadcast to.
int32_t slipway_Where(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_LOGIC_H_
