// Walks over an index space that read broadcast tensors.
#ifndef SLIPWAY_CORE_KERNELS_BROADCAST_H_
#define SLIPWAY_CORE_KERNELS_BROADCAST_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/tensor/shape.h"

namespace slipway::kernels {

// Strides, in elements, that read a row-major tensor of `from` as one of `to`, which it broadcasts
// to: 0 along repeated dimensions.
Shape BroadcastStrides(absl::Span<const int64_t> from, absl::Span<const int64_t> to);

// Calls visit(i, a, b) for every element of `shape` in row-major order: its number and the offsets of
// the operands by their strides.
template <typename Visit>
void Walk(absl::Span<const int64_t> shape, absl::Span<const int64_t> a_strides,
          absl::Span<const int64_t> b_strides, Visit visit) {
  const int rank = static_cast<int>(shape.size());
  Shape index(rank, 0);
  int64_t a = 0;
  int64_t b = 0;
  const int64_t count = NumElements(shape);
  for (int64_t i = 0; i < count; ++i) {
    visit(i, a, b);
    for (int d = rank - 1; d >= 0; --d) {
      a += a_strides[d];
      b += b_strides[d];
      if (++index[d] < shape[d]) break;
      a -= a_strides[d] * shape[d];
      b -= b_strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_BROADCAST_H_
