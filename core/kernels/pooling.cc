#include "core/kernels/pooling.h"

#include <algorithm>
#include <limits>

namespace slipway::kernels {
namespace {

// The part of one dimension's window that lies inside the input, and how much of it lies inside
// input and padding.
struct Part {
  int64_t first;  // Input index.
  int64_t count;
  int64_t padded_count;
};

// How many elements of the window, from its first on, lie before position `end`.
int64_t CountBefore(const WindowDimension& d, int64_t start, int64_t end) {
  if (start >= end) return 0;
  return std::min(d.kernel, (end - start - 1) / d.dilation + 1);
}

Part Visible(const WindowDimension& d, int64_t output) {
  const int64_t start = output * d.stride - d.pad_begin;
  const int64_t hidden = CountBefore(d, start, 0);
  return {start + hidden * d.dilation, CountBefore(d, start, d.input) - hidden,
          CountBefore(d, start, d.input + d.pad_end)};
}

// Calls visit(input offset, output offset, first) for every element each window sees, and
// finish(output offset, seen, seen with padding) behind a window.
template <typename Visit, typename Finish>
void ForEachWindow(const PoolingShape& s, Visit visit, Finish finish) {
  const int64_t in_plane = s.depth.input * s.height.input * s.width.input;
  int64_t out = 0;
  for (int64_t p = 0; p < s.planes; ++p) {
    for (int64_t od = 0; od < s.depth.output; ++od) {
      const Part depth = Visible(s.depth, od);
      for (int64_t oh = 0; oh < s.height.output; ++oh) {
        const Part height = Visible(s.height, oh);
        for (int64_t ow = 0; ow < s.width.output; ++ow, out += s.block) {
          const Part width = Visible(s.width, ow);
          for (int64_t kd = 0; kd < depth.count; ++kd) {
            const int64_t id = depth.first + kd * s.depth.dilation;
            for (int64_t kh = 0; kh < height.count; ++kh) {
              const int64_t ih = height.first + kh * s.height.dilation;
              for (int64_t kw = 0; kw < width.count; ++kw) {
                const int64_t iw = width.first + kw * s.width.dilation;
                const int64_t at = (id * s.height.input + ih) * s.width.input + iw;
                visit((p * in_plane + at) * s.block, out);
              }
            }
          }
          finish(out, depth.count * height.count * width.count,
                 depth.padded_count * height.padded_count * width.padded_count);
        }
      }
    }
  }
}

int64_t Outputs(const PoolingShape& s) {
  return s.planes * s.depth.output * s.height.output * s.width.output * s.block;
}

}  // namespace

template <typename T>
void MaxPool(const PoolingShape& s, const T* x, T* y) {
  std::fill(y, y + Outputs(s), -std::numeric_limits<T>::infinity());
  ForEachWindow(
      s,
      [&](int64_t in, int64_t out) {
        for (int64_t c = 0; c < s.block; ++c) {
          const T value = x[in + c];
          if (value > y[out + c] || value != value) y[out + c] = value;
        }
      },
      [](int64_t, int64_t, int64_t) {});
}

template <typename T>
void AveragePool(const PoolingShape& s, const T* x, T* y) {
  std::fill(y, y + Outputs(s), T{0});
  ForEachWindow(
      s,
      [&](int64_t in, int64_t out) {
        for (int64_t c = 0; c < s.block; ++c) y[out + c] += x[in + c];
      },
      [&](int64_t out, int64_t seen, int64_t padded) {
        const T count = static_cast<T>(s.count_include_pad ? padded : seen);
        for (int64_t c = 0; c < s.block; ++c) y[out + c] /= count;
      });
}

template void MaxPool(const PoolingShape&, const float*, float*);
template void MaxPool(const PoolingShape&, const double*, double*);
template void AveragePool(const PoolingShape&, const float*, float*);
template void AveragePool(const PoolingShape&, const double*, double*);

}  // namespace slipway::kernels
