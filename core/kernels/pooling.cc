#include "core/kernels/pooling.h"

#include "core/kernels/call.h"
#include "core/kernels/extents.h"
#include "core/kernels/math.h"
#include "core/kernels/places.h"

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
  const int64_t count = (end - start - 1) / d.dilation + 1;
  return count < d.kernel ? count : d.kernel;
}

Part Visible(const WindowDimension& d, int64_t output) {
  const int64_t start = output * d.stride - d.pad_begin;
  const int64_t hidden = CountBefore(d, start, 0);
  return {start + hidden * d.dilation, CountBefore(d, start, d.input) - hidden,
          CountBefore(d, start, d.input + d.pad_end)};
}

// Calls visit(input offset) for every element a window sees, and finish(output offset, seen, seen with padding) behind
// each window.
template <typename Visit, typename Finish>
void ForEachWindow(const PoolingShape& s, Visit visit, Finish finish) {
  const int64_t in_plane = s.depth.input * s.height.input * s.width.input;
  int64_t out = 0;
  for (int64_t p = 0; p < s.planes; ++p) {
    for (int64_t od = 0; od < s.depth.output; ++od) {
      const Part depth = Visible(s.depth, od);
      for (int64_t oh = 0; oh < s.height.output; ++oh) {
        const Part height = Visible(s.height, oh);
        for (int64_t i = 0; i < s.width.output * s.block; ++i, ++out) {
          const Part width = Visible(s.width, i / s.block);
          for (int64_t kd = 0; kd < depth.count; ++kd) {
            const int64_t id = depth.first + kd * s.depth.dilation;
            for (int64_t kh = 0; kh < height.count; ++kh) {
              const int64_t ih = height.first + kh * s.height.dilation;
              for (int64_t kw = 0; kw < width.count; ++kw) {
                const int64_t iw = width.first + kw * s.width.dilation;
                const int64_t at = (id * s.height.input + ih) * s.width.input + iw;
                visit((p * in_plane + at) * s.block + i % s.block);
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

template <typename T>
T Lowest() {
  if constexpr (kIsFloat<T>) {
    return Narrow<T>(-kInfinity);
  } else {
    return static_cast<T>(-1) < static_cast<T>(0)
               ? static_cast<T>(uint64_t{1} << (8 * sizeof(T) - 1))
               : static_cast<T>(0);
  }
}

// The number of an element in an order where the first spatial dimension is innermost.
int64_t ColumnMajor(const PoolingShape& s, int64_t at) {
  const int64_t plane = s.depth.input * s.height.input * s.width.input;
  const int64_t w = at % s.width.input;
  const int64_t h = at / s.width.input % s.height.input;
  const int64_t d = at % plane / (s.width.input * s.height.input);
  return at / plane * plane + (w * s.height.input + h) * s.depth.input + d;
}

template <typename T>
void LpPool(const PoolingShape& s, double p, const T* x, T* y) {
  double sum = 0;
  ForEachWindow(
      s, [&](int64_t in) { sum += Pow(Abs(Widen(x[in])), p); },
      [&](int64_t out, int64_t, int64_t) {
        y[out] = Narrow<T>(Pow(sum, 1 / p));
        sum = 0;
      });
}

template <typename T>
int32_t Run(const Call& call, const PoolingShape& shape, Pooling pooling, int64_t p) {
  const T* x = call.input(0).data<const T>();
  const Operand y = call.output(0);
  const Operand indices = call.output(1);
  if (pooling == Pooling::kMax) {
    MaxPool(shape, x, y.data<T>(), indices.present() ? indices.data<int64_t>() : nullptr);
    return 0;
  }
  if constexpr (kIsFloat<T>) {
    if (pooling == Pooling::kAverage) {
      AveragePool(shape, x, y.data<T>());
    } else {
      LpPool(shape, static_cast<double>(p), x, y.data<T>());
    }
    return 0;
  }
  return call.Fail("integers have no mean here");
}

// What was pooled along spatial dimension d.
int64_t Pooled(const Call& call, int d) {
  return (call.input(0).extent(2 + d) - 1) * call.Integer(1 + 2 * d) + call.Integer(2 + 2 * d);
}

const char* MaxUnpoolExtents(const Call& call, Extents& extents) {
  const Operand x = call.input(0);
  const Operand shape = call.input(2);
  if (shape.present() && (shape.elements() != x.rank() || IndexAt(shape, 0) != x.extent(0) ||
                          IndexAt(shape, 1) != x.extent(1))) {
    return "the output shape has not batch and channels of x";
  }
  for (int d = 0; d < x.rank(); ++d) {
    extents.Add(0, d < 2 ? x.extent(d) : shape.present() ? IndexAt(shape, d) : Pooled(call, d - 2));
  }
  return nullptr;
}

}  // namespace

template <typename T>
void MaxPool(const PoolingShape& s, const T* x, T* y, int64_t* indices) {
  int64_t best = -1;
  ForEachWindow(
      s,
      [&](int64_t in) {
        const auto value = Widen(x[in]);
        if (best >= 0 && !(value > Widen(x[best])) &&
            (value == value || Widen(x[best]) != Widen(x[best]))) {
          return;
        }
        best = in;
      },
      [&](int64_t out, int64_t, int64_t) {
        y[out] = best < 0 ? Lowest<T>() : x[best];
        if (indices != nullptr) {
          indices[out] = best < 0 ? 0 : s.column_major ? ColumnMajor(s, best) : best;
        }
        best = -1;
      });
}

template <typename T>
void AveragePool(const PoolingShape& s, const T* x, T* y) {
  double sum = 0;
  ForEachWindow(
      s, [&](int64_t in) { sum += Widen(x[in]); },
      [&](int64_t out, int64_t seen, int64_t padded) {
        y[out] = Narrow<T>(sum / static_cast<double>(s.count_include_pad ? padded : seen));
        sum = 0;
      });
}

template void MaxPool(const PoolingShape&, const float*, float*, int64_t*);
template void MaxPool(const PoolingShape&, const double*, double*, int64_t*);
template void AveragePool(const PoolingShape&, const float*, float*);
template void AveragePool(const PoolingShape&, const double*, double*);

}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_Pool(void** arguments) {
  const Call call(arguments);
  const Operand x = call.input(0);
  PoolingShape shape;
  static_cast<SpatialWindow&>(shape) = WindowAt(call, 5, x, call.output(0));
  shape.planes = x.Product(0, 2);
  shape.block = call.Integer(1);
  shape.count_include_pad = call.Integer(2) != 0;
  shape.column_major = call.Integer(3) != 0;
  return DispatchNumber(call, x.type(), [&](auto zero) {
    return Run<decltype(zero)>(call, shape, static_cast<Pooling>(call.Integer(0)), call.Integer(4));
  });
}

int32_t slipway_GlobalPool(void** arguments) {
  const Call call(arguments);
  const Operand x = call.input(0);
  PoolingShape shape;
  shape.planes = x.Product(0, 2);
  // All spatial dimensions as one.
  shape.width.input = shape.width.kernel = x.Product(2, x.rank());
  return DispatchNumber(call, x.type(), [&](auto zero) {
    return Run<decltype(zero)>(call, shape, static_cast<Pooling>(call.Integer(0)), call.Integer(1));
  });
}

int32_t slipway_MaxUnpool_extents(void** arguments) {
  return WriteExtents(Call(arguments), MaxUnpoolExtents);
}

int32_t slipway_MaxUnpool(void** arguments) {
  const Call call(arguments);
  if (const char* wrong = WrongExtents(call, MaxUnpoolExtents)) return call.Fail(wrong);
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const auto rank = static_cast<int>(call.Integer(0));
  // What was pooled; indices are numbers in a tensor of these extents. The output may be larger.
  PerDimension pooled;
  int64_t elements = x.Product(0, 2);
  for (int d = 0; d < rank; ++d) {
    pooled[d] = Pooled(call, d);
    elements *= pooled[d];
  }
  return DispatchSize(call, x.type(), [&](auto zero) {
    using T = decltype(zero);
    __builtin_memset(y.data<T>(), 0, static_cast<uint64_t>(y.elements()) * sizeof(T));
    for (int64_t i = 0; i < x.elements(); ++i) {
      int64_t rest = call.input(1).data<const int64_t>()[i];
      if (rest < 0 || rest >= elements) return call.Fail("an index is outside of what was pooled");
      int64_t at = 0;
      int64_t stride = 1;
      for (int d = rank - 1; d >= 0; --d) {
        if (rest % pooled[d] >= y.extent(2 + d))
          return call.Fail("an index is outside of the output");
        at += rest % pooled[d] * stride;
        rest /= pooled[d];
        stride *= y.extent(2 + d);
      }
      y.data<T>()[rest * stride + at] = x.data<const T>()[i];
    }
    return 0;
  });
}
