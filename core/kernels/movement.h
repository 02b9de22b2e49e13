// Moving elements about; elements are opaque bytes.
#ifndef SLIPWAY_CORE_KERNELS_MOVEMENT_H_
#define SLIPWAY_CORE_KERNELS_MOVEMENT_H_

#include <cstdint>

#include "absl/types/span.h"

namespace slipway::kernels {

// Copies shape's elements from source to destination, each through its own strides (in elements,
// possibly 0 or negative). Offsets are the caller's: both pointers stand at the first element.
void StridedCopy(int64_t element_bytes, absl::Span<const int64_t> shape, const char* source,
                 absl::Span<const int64_t> source_strides, char* destination,
                 absl::Span<const int64_t> destination_strides);

enum class PadMode { kConstant, kReflect, kEdge, kWrap };

// destination[i] = source[i - begins] along every dimension; outside of the source by `mode`.
// `value` points to one element, used by kConstant.
void Pad(int64_t element_bytes, PadMode mode, absl::Span<const int64_t> source_shape,
         absl::Span<const int64_t> begins, absl::Span<const int64_t> destination_shape,
         const char* source, const char* value, char* destination);

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_MOVEMENT_H_
