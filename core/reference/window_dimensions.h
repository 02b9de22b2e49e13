// From an operator's window to the three dimensions that kernels loop over. Private to this folder.
#ifndef SLIPWAY_CORE_REFERENCE_WINDOW_DIMENSIONS_H_
#define SLIPWAY_CORE_REFERENCE_WINDOW_DIMENSIONS_H_

#include "core/kernels/convolution.h"
#include "core/operators/window.h"

namespace slipway {

// Spatial dimension `from_last` counted from the last one; one of extent 1 where there is none.
inline kernels::WindowDimension DimensionFromLast(const Window& window, size_t from_last) {
  kernels::WindowDimension dimension;
  if (from_last >= window.input.size()) return dimension;
  const size_t d = window.input.size() - 1 - from_last;
  dimension.input = window.input[d];
  dimension.output = window.output[d];
  dimension.kernel = window.kernel[d];
  dimension.stride = window.strides[d];
  dimension.dilation = window.dilations[d];
  dimension.pad_begin = window.pads_begin[d];
  dimension.pad_end = window.pads_end[d];
  return dimension;
}

// Shape: anything with depth, height and width.
template <typename Shape>
void SetWindow(const Window& window, Shape& shape) {
  shape.width = DimensionFromLast(window, 0);
  shape.height = DimensionFromLast(window, 1);
  shape.depth = DimensionFromLast(window, 2);
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_REFERENCE_WINDOW_DIMENSIONS_H_
