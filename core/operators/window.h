// Window: how convolutions and poolings slide over the spatial dimensions.
#ifndef SLIPWAY_CORE_OPERATORS_WINDOW_H_
#define SLIPWAY_CORE_OPERATORS_WINDOW_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// One entry a spatial dimension, in the order of the shape. auto_pad is resolved: pads are numbers.
struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads_begin;
  std::vector<int64_t> pads_end;
  std::vector<int64_t> input;   // Extents the window slides over.
  std::vector<int64_t> output;  // Extents of the result. With ceil_mode the last window may reach
                                // beyond input + pads_end.
};

// Reads strides, pads, dilations, auto_pad and ceil_mode where the schema has them. `kernel` and
// `input` hold the extents. Errors name what does not fit; the output's extents are at least 1.
absl::StatusOr<Window> DecodeWindow(const NodeView& view, absl::Span<const int64_t> kernel,
                                    absl::Span<const int64_t> input);

// The pads attribute: all begins, then all ends.
std::vector<int64_t> PadsAttribute(const Window& window);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_WINDOW_H_
