#include "core/kernels/quantized.h"

#include "core/kernels/batch.h"
#include "core/kernels/call.h"
#include "core/kernels/math.h"
#include "core/kernels/numbers.h"
#include "core/kernels/small_types.h"

namespace slipway::kernels {
namespace {

constexpr int kMaxSpatial = 3;

// Integers less their zero point fit in 16 bits; 8-bit floats are summed up as doubles.
int32_t Wrapped(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
struct Integers {
  using Element = int16_t;
  using Sum = int32_t;
  static int32_t Add(int32_t sum, int16_t a, int16_t b) { return Wrapped(sum, a * b); }
};
struct Floats {
  using Element = double;
  using Sum = double;
  static double Add(double sum, double a, double b) { return sum + a * b; }
};

// function(T()) for the types that may be multiplied here.
template <typename Function>
int32_t DispatchFactor(const Call& call, Type type, Function function) {
  if (type == Type::kInt8) return function(int8_t());
  if (type == Type::kUint8) return function(uint8_t());
  return DispatchSmall(call, type, function);
}

// to[i] = from[i] - zero point at place(i).
template <typename Element, typename Place>
int32_t Shift(const Call& call, const Operand& from, const Operand& zeros, Place place,
              Element* to) {
  return DispatchFactor(call, from.type(), [&](auto none) {
    using T = decltype(none);
    for (int64_t i = 0; i < from.elements(); ++i) {
      const auto zero = zeros.present() ? Widen(zeros.data<const T>()[place(i)]) : WideOf<T>{0};
      to[i] = static_cast<Element>(Widen(from.data<const T>()[i]) - zero);
    }
    return 0;
  });
}

// a * b / c, each step in the type of the operand that they come from.
double Factor(Type type, double a, double b, double c) {
  return RoundTo(type, RoundTo(type, a * b) / c);
}

template <typename T>
T Requantized(double real, double zero) {
  if constexpr (kIsFloat<T>) {
    return Narrow<T>(real + zero);
  } else {
    return Saturated<T>((IsNan(real) ? 0 : RoundHalfEven(real)) + zero);
  }
}

// The operands of one of the two forms of an operator.
struct Factors {
  Operand a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, bias, y;
};
Factors IntegerFactors(const Call& call) {
  return {call.input(0), {}, call.input(2), call.input(1), {}, call.input(3), {}, {}, {},
          call.output(0)};
}
Factors LinearFactors(const Call& call) {
  return {call.input(0), call.input(1), call.input(2), call.input(3), call.input(4),
          call.input(5), call.input(6), call.input(7), call.input(8), call.output(0)};
}

// Writes the sums of products: as they are, or scaled to y.
class Result {
 public:
  explicit Result(const Factors& factors) : factors_(factors) {
    if (!factors.y_scale.present()) return;
    y_scale_ = NumberAt(factors.y_scale, 0);
  }
  // `a` and `b` are the places of the scales.
  template <typename T, typename Sum>
  void Set(int64_t i, Sum sum, int64_t a, int64_t b) const {
    if constexpr (__is_same(T, int32_t)) {
      factors_.y.data<int32_t>()[i] = static_cast<int32_t>(sum);
    } else {
      const double factor = Factor(factors_.y_scale.type(), NumberAt(factors_.a_scale, a),
                                   NumberAt(factors_.b_scale, b), y_scale_);
      const auto zero = static_cast<double>(Widen(factors_.y_zero.data<const T>()[0]));
      factors_.y.data<T>()[i] = Requantized<T>(static_cast<double>(sum) * factor, zero);
    }
  }

 private:
  const Factors& factors_;
  double y_scale_ = 1;
};

template <typename Function>
int32_t DispatchResult(const Call& call, const Operand& y, Function function) {
  if (y.type() == Type::kInt32) return function(int32_t());
  return DispatchFactor(call, y.type(), function);
}

// Where one number of a row's stands among `numbers`: one for all, one a row, or one a row of each matrix.
struct RowPlace {
  int64_t numbers;
  int64_t rows;
  int64_t operator()(int64_t matrix, int64_t row) const {
    if (numbers == 1) return 0;
    return numbers == rows ? row : matrix * rows + row;
  }
};
int64_t Numbers(const Operand& operand) { return operand.present() ? operand.elements() : 1; }

template <typename Kind>
int32_t MatMul(const Call& call, const Factors& factors) {
  using Element = typename Kind::Element;
  const Batch batch(factors.a, factors.b);
  const int64_t m = batch.m;
  const int64_t n = batch.n;
  const int64_t k = batch.k;
  const Scratch<Element> a(call, factors.a.elements());
  const Scratch<Element> b(call, factors.b.elements());
  if (!a || !b) return call.Fail(kOutOfScratch);
  const RowPlace a_zero = {Numbers(factors.a_zero), m};
  const RowPlace b_zero = {Numbers(factors.b_zero), n};
  int32_t result = Shift(
      call, factors.a, factors.a_zero, [&](int64_t i) { return a_zero(i / (m * k), i / k % m); },
      a.get());
  if (result != 0) return result;
  result = Shift(
      call, factors.b, factors.b_zero, [&](int64_t i) { return b_zero(i / (k * n), i % n); },
      b.get());
  if (result != 0) return result;
  const RowPlace a_scale = {Numbers(factors.a_scale), m};
  const RowPlace b_scale = {Numbers(factors.b_scale), n};
  const Result y(factors);
  return DispatchResult(call, factors.y, [&](auto none) {
    for (int64_t p = 0; p < batch.size(); ++p) {
      int64_t a_matrix, b_matrix;
      batch.Locate(p, &a_matrix, &b_matrix);
      for (int64_t i = 0; i < m; ++i) {
        const Element* row = a.get() + (a_matrix * m + i) * k;
        for (int64_t j = 0; j < n; ++j) {
          const Element* column = b.get() + b_matrix * k * n + j;
          typename Kind::Sum sum = 0;
          for (int64_t q = 0; q < k; ++q) sum = Kind::Add(sum, row[q], column[q * n]);
          y.Set<decltype(none)>((p * m + i) * n + j, sum, a_scale(a_matrix, i),
                                b_scale(b_matrix, j));
        }
      }
    }
    return 0;
  });
}

int32_t MatMulOfKind(const Call& call, const Factors& factors) {
  const auto is_integer = [](const Operand& operand) {
    return operand.type() == Type::kInt8 || operand.type() == Type::kUint8;
  };
  if (is_integer(factors.a) && is_integer(factors.b)) return MatMul<Integers>(call, factors);
  return MatMul<Floats>(call, factors);
}

// One spatial dimension of a convolution. Those that a node lacks have extents of 1.
struct Axis {
  int64_t input = 1, kernel = 1, output = 1, stride = 1, dilation = 1, pad = 0;

  int64_t Begin(int64_t out) const { return out * stride - pad; }
  // The taps that meet the input: those in [first, end).
  int64_t First(int64_t out) const {
    const int64_t begin = Begin(out);
    return begin >= 0 ? 0 : (-begin + dilation - 1) / dilation;
  }
  int64_t End(int64_t out) const {
    const int64_t room = input - Begin(out);
    const int64_t end = room <= 0 ? 0 : (room + dilation - 1) / dilation;
    return end < kernel ? end : kernel;
  }
};

struct Geometry {
  Axis axes[kMaxSpatial];
  int64_t in_channels;  // Of one group.

  // The sum over the taps for one output element; x and w are of the first channel of the group.
  int32_t Sum(const int16_t* x, const int16_t* w, const int64_t (&out)[kMaxSpatial]) const {
    const auto& [d, h, v] = axes;
    const int64_t x_size = d.input * h.input * v.input;
    const int64_t w_size = d.kernel * h.kernel * v.kernel;
    int32_t sum = 0;
    for (int64_t c = 0; c < in_channels; ++c, x += x_size, w += w_size) {
      for (int64_t i = d.First(out[0]); i < d.End(out[0]); ++i) {
        const int64_t plane = (d.Begin(out[0]) + i * d.dilation) * h.input;
        for (int64_t j = h.First(out[1]); j < h.End(out[1]); ++j) {
          const int64_t row = (plane + h.Begin(out[1]) + j * h.dilation) * v.input;
          const int16_t* taps = w + (i * h.kernel + j) * v.kernel;
          const int16_t* line = x + row + v.Begin(out[2]);
          for (int64_t t = v.First(out[2]); t < v.End(out[2]); ++t) {
            sum = Integers::Add(sum, line[t * v.dilation], taps[t]);
          }
        }
      }
    }
    return sum;
  }
};

Geometry GeometryOf(const Call& call, const Factors& factors) {
  Geometry geometry;
  geometry.in_channels = factors.b.extent(1);
  const int spatial = static_cast<int>(call.Integer(1));
  for (int s = 0; s < spatial; ++s) {
    Axis& axis = geometry.axes[kMaxSpatial - spatial + s];
    axis = {factors.a.extent(2 + s),       factors.b.extent(2 + s),
            factors.y.extent(2 + s),       call.Integer(2 + s),
            call.Integer(2 + spatial + s), call.Integer(2 + 2 * spatial + s)};
  }
  return geometry;
}

int32_t Conv(const Call& call, const Factors& factors) {
  const Geometry geometry = GeometryOf(call, factors);
  const int64_t group = call.Integer(0);
  const int64_t channels = factors.y.extent(1);
  const int64_t w_size = factors.b.Product(1, factors.b.rank());
  const int64_t x_size = factors.a.Product(2, factors.a.rank()) * geometry.in_channels;
  const Scratch<int16_t> x(call, factors.a.elements());
  const Scratch<int16_t> w(call, factors.b.elements());
  if (!x || !w) return call.Fail(kOutOfScratch);
  const int64_t w_zeros = Numbers(factors.b_zero);
  int32_t result = Shift(
      call, factors.a, factors.a_zero, [](int64_t) { return int64_t{0}; }, x.get());
  if (result != 0) return result;
  result = Shift(
      call, factors.b, factors.b_zero, [&](int64_t i) { return w_zeros == 1 ? 0 : i / w_size; },
      w.get());
  if (result != 0) return result;
  const int64_t w_scales = Numbers(factors.b_scale);
  const Result y(factors);
  const int32_t* bias = factors.bias.present() ? factors.bias.data<const int32_t>() : nullptr;
  return DispatchResult(call, factors.y, [&](auto none) {
    int64_t at = 0;
    for (int64_t b = 0; b < factors.y.extent(0); ++b) {
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t g = c / (channels / group);
        const int16_t* image = x.get() + (b * group + g) * x_size;
        for (int64_t d = 0; d < geometry.axes[0].output; ++d) {
          for (int64_t h = 0; h < geometry.axes[1].output; ++h) {
            for (int64_t v = 0; v < geometry.axes[2].output; ++v) {
              int32_t sum = geometry.Sum(image, w.get() + c * w_size, {d, h, v});
              if (bias != nullptr) sum = Wrapped(sum, bias[c]);
              y.Set<decltype(none)>(at++, sum, 0, w_scales == 1 ? 0 : c);
            }
          }
        }
      }
    }
    return 0;
  });
}

}  // namespace
}  // namespace slipway::kernels

int32_t slipway_MatMulInteger(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  const Call call(arguments);
  return MatMulOfKind(call, IntegerFactors(call));
}

int32_t slipway_QLinearMatMul(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  const Call call(arguments);
  return MatMulOfKind(call, LinearFactors(call));
}

int32_t slipway_ConvInteger(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  const Call call(arguments);
  return Conv(call, IntegerFactors(call));
}

int32_t slipway_QLinearConv(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  const Call call(arguments);
  return Conv(call, LinearFactors(call));
}
