// Kernels of integers and others as the bits they are. Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_BITS_H_
#define SLIPWAY_CORE_KERNELS_BITS_H_

#include <stdint.h>

extern "C" {
// Inputs: a, b of one type of integers. Output: of the shape they broadcast to.
int32_t slipway_BitwiseAnd(void** arguments);
int32_t slipway_BitwiseOr(void** arguments);
int32_t slipway_BitwiseXor(void** arguments);
int32_t slipway_BitwiseNot(void** arguments);

// Inputs: x, how many bits. Parameters: whether to the right, where the sign is repeated. Shifting by less than no bits,
// or by all of them and more, leaves what shifting by all of them would.
int32_t slipway_BitShift(void** arguments);

// Input: x. Output: its bytes under another type of the same size. Only 0 is false.
int32_t slipway_BitCast(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_BITS_H_
