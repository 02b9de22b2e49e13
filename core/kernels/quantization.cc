#include "core/kernels/quantization.h"

#include "core/kernels/call.h"
#include "core/kernels/math.h"
#include "core/kernels/numbers.h"
#include "core/kernels/small_types.h"

namespace slipway::kernels {
namespace {

// function(element, place of its scale), for all elements of x.
template <typename Function>
void ForEachScaled(const Call& call, Function function) {
  const Operand x = call.input(0);
  const int64_t granularity = call.Integer(0);
  if (granularity == 0) {
    for (int64_t i = 0; i < x.elements(); ++i) function(i, 0);
    return;
  }
  const int axis = static_cast<int>(call.Integer(1));
  const int64_t block = call.Integer(2);
  const int64_t extent = x.extent(axis);
  const int64_t inner = x.Product(axis + 1, x.rank());
  const int64_t blocks = granularity == 2 ? call.input(1).extent(axis) : 0;
  int64_t i = 0;
  for (int64_t o = 0; o < x.Product(0, axis); ++o) {
    for (int64_t a = 0; a < extent; ++a) {
      const int64_t row = (o * blocks + a / block) * inner;
      for (int64_t n = 0; n < inner; ++n, ++i) function(i, granularity == 1 ? a : row + n);
    }
  }
}

// A scale or a real number.
double RealAt(const Operand& operand, int64_t i) {
  if (operand.type() == Type::kFloat8E8M0) return Widen(operand.data<const Float8E8M0>()[i]);
  return NumberAt(operand, i);
}

template <typename T>
struct Quantized {
  static T From(double x, double zero, bool /*saturate*/) {
    return Saturated<T>((IsNan(x) ? 0 : RoundHalfEven(x)) + zero);
  }
};
template <int exponent_bits, int fraction_bits, int bias, Special special>
struct Quantized<SmallFloat<exponent_bits, fraction_bits, bias, special>> {
  using T = SmallFloat<exponent_bits, fraction_bits, bias, special>;
  static T From(double x, double zero, bool saturate) { return T::Rounded(x + zero, saturate); }
};

template <typename T>
int32_t Quantize(const Call& call) {
  const Operand x = call.input(0);
  const Operand scale = call.input(1);
  const Operand zeros = call.input(2);
  const Type precision = static_cast<Type>(call.Integer(3));
  const Type quotient = precision == Type::kNone ? call.input(1).type() : precision;
  const bool saturate = call.Integer(4) != 0;
  T* y = call.output(0).data<T>();
  ForEachScaled(call, [&](int64_t i, int64_t s) {
    const double zero = zeros.present() ? static_cast<double>(Widen(zeros.data<const T>()[s])) : 0;
    const double real = RoundTo(precision, RealAt(x, i)) / RoundTo(precision, RealAt(scale, s));
    y[i] = Quantized<T>::From(RoundTo(quotient, real), zero, saturate);
  });
  return 0;
}

template <typename T>
int32_t Dequantize(const Call& call) {
  const T* x = call.input(0).data<const T>();
  const Operand scale = call.input(1);
  const Operand zeros = call.input(2);
  const Operand y = call.output(0);
  ForEachScaled(call, [&](int64_t i, int64_t s) {
    auto difference = static_cast<double>(Widen(x[i]));
    if (zeros.present()) difference -= static_cast<double>(Widen(zeros.data<const T>()[s]));
    SetNumber(y, i, RoundTo(y.type(), difference) * RoundTo(y.type(), RealAt(scale, s)));
  });
  return 0;
}

// What of DispatchReal's types is quantized.
template <typename Function>
int32_t DispatchQuantized(const Call& call, Type type, Function function) {
  if (type == Type::kInt32) return function(int32_t());
  if (type == Type::kInt16) return function(int16_t());
  if (type == Type::kUint16) return function(uint16_t());
  if (type == Type::kInt8) return function(int8_t());
  if (type == Type::kUint8) return function(uint8_t());
  return DispatchSmall(call, type, function);
}

int32_t DynamicQuantize(const Call& call) {
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const Operand scale_out = call.output(1);
  const Operand zero_out = call.output(2);
  const float* values = x.data<const float>();
  float low = 0;
  float high = 0;
  for (int64_t i = 0; i < x.elements(); ++i) {
    if (values[i] < low) low = values[i];
    if (values[i] > high) high = values[i];
  }
  const float scale = (high > low ? high - low : 1.0f) / 255.0f;
  const auto zero = Saturated<uint8_t>(RoundHalfEven(-low / scale));
  if (y.present()) {
    for (int64_t i = 0; i < x.elements(); ++i) {
      y.data<uint8_t>()[i] = Quantized<uint8_t>::From(values[i] / scale, zero, true);
    }
  }
  if (scale_out.present()) scale_out.data<float>()[0] = scale;
  if (zero_out.present()) zero_out.data<uint8_t>()[0] = zero;
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

int32_t slipway_QuantizeLinear(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  const Call call(arguments);
  return DispatchQuantized(call, call.output(0).type(),
                           [&](auto zero) { return Quantize<decltype(zero)>(call); });
}

int32_t slipway_DequantizeLinear(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  const Call call(arguments);
  return DispatchQuantized(call, call.input(0).type(),
                           [&](auto zero) { return Dequantize<decltype(zero)>(call); });
}

int32_t slipway_DynamicQuantizeLinear(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return DynamicQuantize(Call(arguments));
}
