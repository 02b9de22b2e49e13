// The windows that convolutions and pools slide over the two spatial dimensions.
#ifndef SLIPWAY_CORE_CODEGEN_LOWER_WINDOW_H_
#define SLIPWAY_CORE_CODEGEN_LOWER_WINDOW_H_

#include <halide14/Halide.h>

#include <array>

#include "absl/status/statusor.h"
#include "core/codegen/lowering.h"
#include "core/operators/window.h"

namespace slipway {

// A Window over two dimensions in the type of Halide's indices, in the order [height, width].
struct PlaneWindow {
  std::array<int, 2> kernel;
  std::array<int, 2> stride;
  std::array<int, 2> dilation;
  std::array<int, 2> pad_begin;
  std::array<int, 2> pad_end;
  std::array<int, 2> input;   // Extents.
  std::array<int, 2> output;  // Extents.

  // Whether some window reads beyond the input: into the padding or, with ceil_mode, behind it.
  bool ReadsOutside() const;
};

// UNIMPLEMENTED for windows of other than two dimensions.
absl::StatusOr<PlaneWindow> PlaneOf(const NodeView& node, const Window& window);

// `input` extended by `value` beyond its extents along dimensions x_dim (width) and x_dim + 1 (height),
// shifted so that index 0 is the first padded position. The Func is fresh: schedule it as a stage.
Halide::Func PaddedInput(const Halide::Func& input, int x_dim, const PlaneWindow& window,
                         Halide::Expr value);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LOWER_WINDOW_H_
