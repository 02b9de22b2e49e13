#include "core/kernels/deconvolution.h"

#include "core/kernels/call.h"
#include "core/kernels/extents.h"
#include "core/kernels/places.h"
#include "core/kernels/window.h"

namespace slipway::kernels {
namespace {

// Adds to the plane y what kernel element (kd, kh, kw), of value `weight`, makes of the plane x.
template <typename T>
void Spread(const SpatialWindow& s, int64_t kd, int64_t kh, int64_t kw, double weight, const T* x,
            double* y) {
  const Range depth = ValidOutputs(s.depth, kd);
  const Range height = ValidOutputs(s.height, kh);
  const Range width = ValidOutputs(s.width, kw);
  for (int64_t d = depth.begin; d < depth.end; ++d) {
    for (int64_t h = height.begin; h < height.end; ++h) {
      const T* row = x + (d * s.height.output + h) * s.width.output;
      double* to = y + (InputIndex(s.depth, d, kd) * s.height.input + InputIndex(s.height, h, kh)) *
                           s.width.input;
      for (int64_t w = width.begin; w < width.end; ++w) {
        to[InputIndex(s.width, w, kw)] += weight * Widen(row[w]);
      }
    }
  }
}

template <typename T>
int32_t ConvTranspose(const Call& call) {
  const Operand x = call.input(0);
  const Operand w = call.input(1);
  const Operand bias = call.input(2);
  const Operand y = call.output(0);
  const int64_t group = call.Integer(0);
  const SpatialWindow window = WindowAt(call, 1, y, x);
  const int64_t channels = x.extent(1) / group;
  const int64_t made = w.extent(1);
  const int64_t in_plane = x.Product(2, x.rank());
  const int64_t out_plane = y.Product(2, y.rank());
  const int64_t kernel = w.Product(2, w.rank());
  const Scratch<double> plane(call, out_plane);
  if (!plane) return call.Fail(kOutOfScratch);
  for (int64_t p = 0; p < x.extent(0) * group * made; ++p) {
    const int64_t n = p / (group * made);
    const int64_t g = p / made % group;
    const double begin = bias.present() ? Widen(bias.data<const T>()[p % (group * made)]) : 0;
    for (int64_t i = 0; i < out_plane; ++i) plane[i] = begin;
    for (int64_t c = 0; c < channels; ++c) {
      const T* weights = w.data<const T>() + ((g * channels + c) * made + p % made) * kernel;
      const T* from = x.data<const T>() + ((n * group + g) * channels + c) * in_plane;
      for (int64_t kd = 0; kd < window.depth.kernel; ++kd) {
        for (int64_t kh = 0; kh < window.height.kernel; ++kh) {
          for (int64_t kw = 0; kw < window.width.kernel; ++kw) {
            Spread(window, kd, kh, kw, Widen(*weights++), from, plane.get());
          }
        }
      }
    }
    for (int64_t i = 0; i < out_plane; ++i) y.data<T>()[p * out_plane + i] = Narrow<T>(plane[i]);
  }
  return 0;
}

// Integers wrap around.
double Sum(double a, double b) { return a + b; }
uint64_t Sum(uint64_t a, uint64_t b) { return a + b; }
int64_t Sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// Dimension d of the window, and how many places it has.
WindowDimension Col2ImWindow(const Call& call, int d) {
  WindowDimension dimension = WindowNumbers(call.Integers() + 1, d);
  dimension.input = IndexAt(call.input(1), d);
  dimension.kernel = IndexAt(call.input(2), d);
  const int64_t reach = (dimension.kernel - 1) * dimension.dilation + 1;
  const int64_t span = dimension.input + dimension.pad_begin + dimension.pad_end - reach;
  dimension.output = span < 0 ? 0 : span / dimension.stride + 1;
  return dimension;
}

const char* Col2ImExtents(const Call& call, Extents& extents) {
  constexpr const char* kNoBlocks = "x holds no blocks for such an image";
  const Operand x = call.input(0);
  const auto rank = static_cast<int>(call.Integer(0));
  if (call.input(1).elements() != rank || call.input(2).elements() != rank) return kNoBlocks;
  int64_t block = 1;
  int64_t places = 1;
  for (int d = 0; d < rank; ++d) {
    const int64_t image = IndexAt(call.input(1), d);
    const int64_t kernel = IndexAt(call.input(2), d);
    if (image < 0 || image > kMostExtent || kernel > kMostExtent) return kBadExtent;
    int64_t reach = 0;
    const int64_t dilation = WindowNumbers(call.Integers() + 1, d).dilation;
    if (kernel < 1 || __builtin_mul_overflow(kernel, dilation, &reach)) return kNoBlocks;
    const WindowDimension window = Col2ImWindow(call, d);
    const bool fits = !__builtin_mul_overflow(block, window.kernel, &block) &&
                      !__builtin_mul_overflow(places, window.output, &places);
    if (!fits) return kNoBlocks;
  }
  if (x.extent(1) % block != 0 || x.extent(2) != places) return kNoBlocks;
  extents.Add(0, x.extent(0));
  extents.Add(0, x.extent(1) / block);
  for (int d = 0; d < rank; ++d) extents.Add(0, IndexAt(call.input(1), d));
  return nullptr;
}

template <typename T>
int32_t Col2Im(const Call& call) {
  const Operand y = call.output(0);
  const auto rank = static_cast<int>(call.Integer(0));
  WindowDimension windows[kMostDimensions];
  int64_t block = 1;
  for (int d = 0; d < rank; ++d) {
    windows[d] = Col2ImWindow(call, d);
    block *= windows[d].kernel;
  }
  const int64_t places = call.input(0).extent(2);
  const int64_t plane = y.Product(2, y.rank());
  const T* x = call.input(0).data<const T>();
  const Scratch<WideOf<T>> sums(call, plane);
  if (!sums) return call.Fail(kOutOfScratch);
  for (int64_t p = 0; p < y.Product(0, 2); ++p) {
    for (int64_t i = 0; i < plane; ++i) sums[i] = 0;
    for (int64_t element = 0; element < block; ++element) {
      for (int64_t place = 0; place < places; ++place, ++x) {
        int64_t k = element;
        int64_t l = place;
        int64_t at = 0;
        int64_t stride = 1;
        bool inside = true;
        for (int d = rank - 1; d >= 0; --d) {
          const WindowDimension& w = windows[d];
          const int64_t index = InputIndex(w, l % w.output, k % w.kernel);
          inside = inside && index >= 0 && index < w.input;
          at += index * stride;
          stride *= w.input;
          k /= w.kernel;
          l /= w.output;
        }
        if (inside) sums[at] = Sum(sums[at], Widen(*x));
      }
    }
    for (int64_t i = 0; i < plane; ++i) y.data<T>()[p * plane + i] = Narrow<T>(sums[i]);
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_ConvTranspose(void** arguments) {
  const Call call(arguments);
  return DispatchFloat(call, call.input(0).type(),
                       [&](auto zero) { return ConvTranspose<decltype(zero)>(call); });
}

int32_t slipway_Col2Im_extents(void** arguments) {
  return WriteExtents(Call(arguments), Col2ImExtents);
}

int32_t slipway_Col2Im(void** arguments) {
  const Call call(arguments);
  if (const char* wrong = WrongExtents(call, Col2ImExtents)) return call.Fail(wrong);
  return DispatchNumber(call, call.input(0).type(),
                        [&](auto zero) { return Col2Im<decltype(zero)>(call); });
}
