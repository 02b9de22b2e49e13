// Window: how convolutions and poolings slide over the spatial dimensions.
#ifndef SLIPWAY_CORE_OPERATORS_WINDOW_H_
#define SLIPWAY_CORE_OPERATORS_WINDOW_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// One entry a spatial dimension, in the order of the shape. auto_pad is resolved into pads. Extent is
// int64_t, or Dimension where types are inferred and an extent may be open.
template <typename Extent>
struct BasicWindow {
  std::vector<Extent> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<Extent> pads_begin;
  std::vector<Extent> pads_end;
  std::vector<Extent> input;   // Extents the window slides over; kOpenExtent where it is not known.
  std::vector<Extent> output;  // Extents of the result. With ceil_mode the last window may reach
                               // beyond input + pads_end.
};
using Window = BasicWindow<int64_t>;

// Reads strides, pads, dilations, auto_pad and ceil_mode where the schema has them. `kernel` and
// `input` hold the extents. Errors name what does not fit; the output's known extents are at least 1.
absl::StatusOr<BasicWindow<Dimension>> DecodeWindow(const NodeView& view,
                                                    absl::Span<const Dimension> kernel,
                                                    absl::Span<const Dimension> input);

// UNIMPLEMENTED where kernel or pads are not known.
absl::StatusOr<Window> KnownWindow(const NodeView& view, const BasicWindow<Dimension>& window);

// An extent of a Window or ConvView that is not known.
inline constexpr int64_t kOpenExtent = -1;
inline int64_t ExtentOrOpen(const Dimension& dimension) {
  return dimension.is_known() ? dimension.extent() : kOpenExtent;
}

// The pads attribute: all begins, then all ends.
std::vector<int64_t> PadsAttribute(const Window& window);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_WINDOW_H_
