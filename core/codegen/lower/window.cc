#include "core/codegen/lower/window.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

std::array<int, 2> Pair(const std::vector<int64_t>& values) {
  return {static_cast<int>(values[0]), static_cast<int>(values[1])};
}

}  // namespace

bool PlaneWindow::ReadsOutside() const {
  for (int d = 0; d < 2; ++d) {
    if (pad_begin[d] > 0) return true;
    const int64_t last = int64_t{output[d] - 1} * stride[d] + int64_t{kernel[d] - 1} * dilation[d];
    if (last >= input[d]) return true;
  }
  return false;
}

absl::StatusOr<PlaneWindow> PlaneOf(const NodeView& node, const Window& window) {
  if (window.kernel.size() != 2) {
    return node.Unimplemented(
        absl::StrCat("no kernel for windows of ", window.kernel.size(), " dimensions yet, only 2"));
  }
  for (int d = 0; d < 2; ++d) {
    if (window.input[d] == kOpenExtent || window.output[d] == kOpenExtent) {
      return node.Unimplemented(
          "no kernel can be generated for windows over extents that are not known yet");
    }
    // All positions that any window touches must be numbers of 32 bits.
    const int64_t reach = window.output[d] * window.strides[d] +
                          window.kernel[d] * window.dilations[d] + window.pads_begin[d] +
                          window.pads_end[d];
    if (reach > INT32_MAX / 2) {
      return node.Unimplemented(absl::StrCat("its windows reach over ", reach, " positions"));
    }
  }
  return PlaneWindow{Pair(window.kernel),     Pair(window.strides),  Pair(window.dilations),
                     Pair(window.pads_begin), Pair(window.pads_end), Pair(window.input),
                     Pair(window.output)};
}

Halide::Func PaddedInput(const Halide::Func& input, int x_dim, const PlaneWindow& window,
                         Halide::Expr value) {
  const int rank = input.dimensions();
  Halide::Region bounds(rank);
  bounds[x_dim] = {0, window.input[1]};
  bounds[x_dim + 1] = {0, window.input[0]};
  const Halide::Func exterior =
      Halide::BoundaryConditions::constant_exterior(input, std::move(value), bounds);
  const std::vector<Halide::Var> vars = FreshVars(rank);
  std::vector<Halide::Expr> at = AsExprs(vars);
  at[x_dim] -= window.pad_begin[1];
  at[x_dim + 1] -= window.pad_begin[0];
  Halide::Func padded("padded");
  padded(vars) = exterior(at);
  return padded;
}

}  // namespace slipway
