// Windows that slide over the spatial dimensions. Freestanding: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_WINDOW_H_
#define SLIPWAY_CORE_KERNELS_WINDOW_H_

#include <stdint.h>

#include "core/kernels/call.h"

namespace slipway::kernels {

// One spatial dimension of a sliding window.
struct WindowDimension {
  int64_t input = 1;   // Extent slid over.
  int64_t output = 1;  // Extent of the result.
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;
};

struct Range {
  int64_t begin;
  int64_t end;
};

// The outputs whose window has its element k inside the input.
inline Range ValidOutputs(const WindowDimension& d, int64_t k) {
  const auto ceil_divide = [](int64_t a, int64_t b) { return a <= 0 ? 0 : (a + b - 1) / b; };
  const int64_t offset = k * d.dilation - d.pad_begin;
  const int64_t begin = ceil_divide(-offset, d.stride);
  const int64_t end = ceil_divide(d.input - offset, d.stride);
  const int64_t last = end < d.output ? end : d.output;
  return {begin, last > begin ? last : begin};
}

inline int64_t InputIndex(const WindowDimension& d, int64_t output, int64_t k) {
  return output * d.stride + k * d.dilation - d.pad_begin;
}

// A window over three dimensions, those that are missing of extent 1.
struct SpatialWindow {
  WindowDimension depth;
  WindowDimension height;
  WindowDimension width;

  WindowDimension& FromLast(int i) { return i == 0 ? width : i == 1 ? height : depth; }
};

// Parameters of a window, as core/reference/window_parameters.h writes them: the number of spatial dimensions, then for
// each kernel, stride, dilation, pad at the beginning, pad at the end.
inline constexpr int kWindowNumbers = 5;

// Dimension d of a window whose numbers begin at `numbers`, without extents.
inline WindowDimension WindowNumbers(const int64_t* numbers, int d) {
  const int64_t* own = numbers + d * kWindowNumbers;
  return {0, 0, own[0], own[1], own[2], own[3], own[4]};
}

// The window whose parameters begin at `first`. It slides over `input`, whose spatial dimensions begin at dimension 2,
// and makes `output`.
inline SpatialWindow WindowAt(const Call& call, int first, const Operand& input,
                              const Operand& output) {
  SpatialWindow window;
  const auto rank = static_cast<int>(call.Integer(first));
  for (int d = 0; d < rank; ++d) {
    WindowDimension& dimension = window.FromLast(rank - 1 - d);
    dimension = WindowNumbers(call.Integers() + first + 1, d);
    dimension.input = input.extent(2 + d);
    dimension.output = output.extent(2 + d);
  }
  return window;
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_WINDOW_H_
