// Operators that read images at computed places: GridSample, AffineGrid, DeformConv, RoiAlign.
#ifndef SLIPWAY_CORE_OPERATORS_SAMPLING_H_
#define SLIPWAY_CORE_OPERATORS_SAMPLING_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"
#include "core/operators/window.h"

namespace slipway {

// The numbers of the enums are those of core/kernels/sampling.h.
struct GridSampleView {
  enum class Mode : int64_t { kNearest = 0, kLinear = 1, kCubic = 2 };
  enum class Padding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };
  Mode mode = Mode::kLinear;
  Padding padding = Padding::kZeros;
  bool align_corners = false;
};
absl::StatusOr<GridSampleView> DecodeGridSample(const NodeView& view);

struct RoiAlignView {
  bool maximum = false;        // Of the samples of a bin; else their mean.
  bool half_pixel = true;      // Regions are moved by half a pixel, and may be smaller than one.
  int64_t sampling_ratio = 0;  // Samples of a bin along each axis; 0: as many as it has pixels.
  double spatial_scale = 1;
};
absl::StatusOr<RoiAlignView> DecodeRoiAlign(const NodeView& view);

// DeformConv: Conv with an offset for each place, element of the kernel, dimension and group of input channels, and with
// a factor, the mask.
struct DeformConvView {
  int64_t group = 1;
  int64_t offset_group = 1;
  Window window;
};
// UNIMPLEMENTED where an extent is open.
absl::StatusOr<DeformConvView> DecodeDeformConv(const NodeView& view);

absl::Status RegisterSamplingOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_SAMPLING_H_
