// Shape: the extents of a tensor, outermost first, all known and not negative.
#ifndef SLIPWAY_CORE_TENSOR_SHAPE_H_
#define SLIPWAY_CORE_TENSOR_SHAPE_H_

#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace slipway {

inline constexpr int kMaxRank = 16;

using Shape = absl::InlinedVector<int64_t, 6>;

// The number of elements. REQUIRES: the shape passed CheckShape.
int64_t NumElements(absl::Span<const int64_t> shape);

// Checks rank <= kMaxRank, every extent in [0, 2^31 - 1], and that the product of the extents times
// `element_bytes` fits in 2^62. Returns that number of bytes. INVALID_ARGUMENT names the extent that
// is negative, RESOURCE_EXHAUSTED the shape that overflows, UNIMPLEMENTED an extent of 2^31 or more.
absl::StatusOr<int64_t> CheckShape(absl::Span<const int64_t> shape, int64_t element_bytes);

// "[1, 3, 224, 224]"; "[]" for a scalar.
std::string ToString(absl::Span<const int64_t> shape);

// Row-major strides in elements.
Shape RowMajorStrides(absl::Span<const int64_t> shape);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TENSOR_SHAPE_H_
