// The limits of ONNX files. What a file asks for beyond these is refused by name.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_LIMITS_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_LIMITS_H_

#include <cstdint>

#include "core/graph/graph.h"

namespace slipway {

inline constexpr int kMinOnnxOpset = 1;
inline constexpr int kMaxOnnxOpset = kOpset;
// Protocol buffers hold no more; larger models keep their weights in files of their own.
inline constexpr int64_t kMaxOnnxFileBytes = (int64_t{1} << 31) - 1;
inline constexpr int kMaxFunctionNesting = 64;  // Functions that call functions.
// What functions that are called more than once may hold, for all calls but the first.
inline constexpr int64_t kMaxRepeatedBytes = int64_t{256} << 20;
// What a function's call puts before the names of what it makes.
inline constexpr int kMaxNamePrefixBytes = 1024;
// The largest extent of a symbolic dimension unless the caller says another: products of four still fit in 64 bits.
inline constexpr int64_t kMostFreeExtent = 32768;
// Tensors of as many bytes are read from the model's files when somebody asks for their bytes.
inline constexpr int64_t kLargeTensorBytes = 64 << 10;
inline constexpr int64_t kMaxExternalBytes = int64_t{64} << 30;  // All weights of a model.

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_LIMITS_H_
