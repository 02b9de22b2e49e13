#include "core/kernels/movement.h"

#include <algorithm>
#include <cstring>

#include "core/kernels/broadcast.h"
#include "core/tensor/shape.h"

namespace slipway::kernels {
namespace {

// Where position `at` of a padded dimension reads; -1 where it reads nothing.
int64_t SourcePosition(PadMode mode, int64_t at, int64_t extent) {
  if (at >= 0 && at < extent) return at;
  switch (mode) {
    case PadMode::kConstant:
      return -1;
    case PadMode::kEdge:
      return std::clamp<int64_t>(at, 0, extent - 1);
    case PadMode::kWrap:
      return (at % extent + extent) % extent;
    case PadMode::kReflect: {
      // 0 1 2 3 goes on as 2 1 and comes from 2 1: the border is not repeated.
      const int64_t mirrored = at < 0 ? -at : 2 * (extent - 1) - at;
      return mirrored >= 0 && mirrored < extent ? mirrored : -1;
    }
  }
  return -1;
}

}  // namespace

void StridedCopy(int64_t element_bytes, absl::Span<const int64_t> shape, const char* source,
                 absl::Span<const int64_t> source_strides, char* destination,
                 absl::Span<const int64_t> destination_strides) {
  // The innermost dimensions that are dense on both sides move as one piece.
  size_t rank = shape.size();
  int64_t piece = 1;
  while (rank > 0 && (shape[rank - 1] == 1 || (source_strides[rank - 1] == piece &&
                                               destination_strides[rank - 1] == piece))) {
    piece *= shape[--rank];
  }
  if (piece == 0) return;
  Walk(shape.subspan(0, rank), source_strides.subspan(0, rank),
       destination_strides.subspan(0, rank), [&](int64_t, int64_t from, int64_t to) {
         std::memcpy(destination + to * element_bytes, source + from * element_bytes,
                     piece * element_bytes);
       });
}

void Pad(int64_t element_bytes, PadMode mode, absl::Span<const int64_t> source_shape,
         absl::Span<const int64_t> begins, absl::Span<const int64_t> destination_shape,
         const char* source, const char* value, char* destination) {
  const Shape strides = RowMajorStrides(source_shape);
  const size_t rank = destination_shape.size();
  Shape index(rank, 0);
  const int64_t count = NumElements(destination_shape);
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < rank && from >= 0; ++d) {
      const int64_t at = SourcePosition(mode, index[d] - begins[d], source_shape[d]);
      from = at < 0 ? -1 : from + at * strides[d];
    }
    std::memcpy(destination + i * element_bytes, from < 0 ? value : source + from * element_bytes,
                element_bytes);
    for (size_t d = rank; d > 0; --d) {
      if (++index[d - 1] < destination_shape[d - 1]) break;
      index[d - 1] = 0;
    }
  }
}

}  // namespace slipway::kernels
