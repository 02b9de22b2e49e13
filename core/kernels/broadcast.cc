#include "core/kernels/broadcast.h"

namespace slipway::kernels {

Shape BroadcastStrides(absl::Span<const int64_t> from, absl::Span<const int64_t> to) {
  const Shape own = RowMajorStrides(from);
  Shape strides(to.size(), 0);
  const size_t missing = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] != 1) strides[missing + d] = own[d];
  }
  return strides;
}

}  // namespace slipway::kernels
