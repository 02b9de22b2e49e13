// Resize.
#ifndef SLIPWAY_CORE_OPERATORS_RESIZE_H_
#define SLIPWAY_CORE_OPERATORS_RESIZE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// Everything but the extents. The numbers of the enums are those of core/kernels/resize.h.
struct ResizeView {
  enum class Mode : int64_t { kNearest = 0, kLinear = 1, kCubic = 2 };
  enum class Coordinates : int64_t {
    kHalfPixel = 0,
    kHalfPixelSymmetric = 1,
    kPytorchHalfPixel = 2,
    kAlignCorners = 3,
    kAsymmetric = 4,
    kCropAndResize = 5,
    kTfHalfPixel = 6,  // Of opsets up to 12.
  };
  enum class Rounding : int64_t { kHalfDown = 0, kHalfUp = 1, kFloor = 2, kCeil = 3 };
  // How sizes are to be understood that would change the ratio of extents.
  enum class Aspect : int64_t { kStretch = 0, kNotLarger = 1, kNotSmaller = 2 };

  Mode mode = Mode::kNearest;
  Coordinates coordinates = Coordinates::kHalfPixel;
  Rounding rounding = Rounding::kHalfDown;  // In kNearest.
  Aspect aspect = Aspect::kStretch;
  bool antialias = false;
  bool exclude_outside = false;
  double cubic_a = -0.75;
  double extrapolation = 0;   // What lies outside in kCropAndResize.
  bool has_sizes = false;     // Input 3 says what becomes of the axes, else input 2.
  std::vector<int64_t> axes;  // Those that roi, scales and sizes speak of, in their order.
};
absl::StatusOr<ResizeView> DecodeResize(const NodeView& view);

absl::Status RegisterResizeOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_RESIZE_H_
