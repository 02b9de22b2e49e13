// Poolings: MaxPool, AveragePool, their blocked forms slipway.MaxPoolNCHWc and
// slipway.AveragePoolNCHWc (x [N, C/c, H, W, c], pads explicit), LpPool, GlobalAveragePool, GlobalMaxPool, GlobalLpPool;
// MaxUnpool.
#ifndef SLIPWAY_CORE_OPERATORS_POOLING_H_
#define SLIPWAY_CORE_OPERATORS_POOLING_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"
#include "core/operators/window.h"

namespace slipway {

// Extent: see BasicWindow.
template <typename Extent>
struct BasicPoolView {
  bool blocked = false;  // One of the NCHWc forms.
  bool is_max = false;   // Else the average.
  // Average: whether padding counts as elements of value 0. What ceil_mode adds never counts.
  bool count_include_pad = false;
  int64_t p = 0;  // LpPool: (the sum of |x|^p)^(1/p). 0 for the others.
  BasicWindow<Extent> window;
};
using PoolView = BasicPoolView<int64_t>;

// One of the four poolings with a window. Errors as those of the type rule, which reads nodes by the same
// code; the window's input and output are kOpenExtent where they are not known, UNIMPLEMENTED where another number is.
absl::StatusOr<PoolView> DecodePool(const NodeView& view);

// MaxUnpool undoes a pooling of extents (x - 1) * strides + rests: kernel less padding.
struct UnpoolView {
  std::vector<int64_t> strides;
  std::vector<int64_t> rests;
};
absl::StatusOr<UnpoolView> DecodeMaxUnpool(const NodeView& view);

absl::Status RegisterPoolingOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_POOLING_H_
