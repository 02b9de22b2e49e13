// Kernels over sequences and optionals, which are tensors of bytes (core/operators/sequence.h). Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_SEQUENCE_H_
#define SLIPWAY_CORE_KERNELS_SEQUENCE_H_

#include <stdint.h>

extern "C" {
// Inputs: elements. Output: the pack of them, u8[n]. Parameter: its kind.
int32_t slipway_PackElements(void** arguments);
int32_t slipway_PackElements_count(void** arguments);
// Input: a pack. Outputs: its elements. Fails for a pack of others.
int32_t slipway_UnpackElements(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_SEQUENCE_H_
