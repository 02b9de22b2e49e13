// Kernels over strings, which are pairs of tensors here: places (i64: where a string's bytes begin in the contents, times
// 2^32, plus how many there are) and contents (u8[n]), as core/tensor/string_layout.h has them. Callable: see call.h. Those
// named _count say of how many bytes, or elements, outputs will be.
#ifndef SLIPWAY_CORE_KERNELS_STRINGS_H_
#define SLIPWAY_CORE_KERNELS_STRINGS_H_

#include <stdint.h>

extern "C" {
// Inputs: places and contents of a, and of b, which broadcast. Output: bool.
int32_t slipway_StringEqual(void** arguments);
// Inputs: places and contents of x, and of keys, a list. Output: the number of the last key that is equal, or how many keys
// there are.
int32_t slipway_StringFind(void** arguments);
// Inputs: places and contents. Output: how many different strings of x are smaller, by their bytes.
int32_t slipway_StringRank(void** arguments);
// Inputs: places and contents of a, and of b, which broadcast. Outputs: places and contents of both, one behind the other.
int32_t slipway_StringConcat(void** arguments);
int32_t slipway_StringConcat_count(void** arguments);
// Inputs: places and contents. Outputs: places of the pieces, in the same contents, and how many there are of each string.
// Parameters: the most splits, the length of the delimiter, its bytes. Without delimiter white space separates.
int32_t slipway_StringSplit(void** arguments);
int32_t slipway_StringSplit_count(void** arguments);
// Inputs: places and contents. Output: the contents with upper or lower case letters, as many bytes. Parameter: whether upper.
int32_t slipway_StringCase(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_STRINGS_H_
