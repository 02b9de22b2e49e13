#include "core/kernels/activation.h"

#include "core/kernels/elements.h"
#include "core/kernels/math.h"

namespace slipway::kernels {
namespace {

// ln(1 + e^x)
double SoftMaximum(double x) { return x > 0 ? x + Log1p(Exp(-x)) : Log1p(Exp(x)); }

double ExactGelu(double x) {
  // 1 + erf(z) is erfc(-z), which keeps its digits where it is small.
  return 0.5 * x * Erfc(-x * 0.70710678118654752440);
}
double TanhGelu(double x) {
  return 0.5 * x * (1 + Tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_Celu(void** arguments) {
  const Call call(arguments);
  const double alpha = call.Real(0);
  return MapFloats(call, [&](double x) { return x > 0 ? x : alpha * Expm1(x / alpha); });
}
int32_t slipway_Mish(void** arguments) {
  return MapFloats(Call(arguments), [](double x) { return x * Tanh(SoftMaximum(x)); });
}
int32_t slipway_Selu(void** arguments) {
  const Call call(arguments);
  const double alpha = call.Real(0);
  const double gamma = call.Real(1);
  return MapFloats(call, [&](double x) { return gamma * (x > 0 ? x : alpha * Expm1(x)); });
}
int32_t slipway_Softplus(void** arguments) { return MapFloats(Call(arguments), SoftMaximum); }
int32_t slipway_Softsign(void** arguments) {
  return MapFloats(Call(arguments), [](double x) { return x / (1 + Abs(x)); });
}
int32_t slipway_Swish(void** arguments) {
  const Call call(arguments);
  const double alpha = call.Real(0);
  return MapFloats(call, [&](double x) { return x * Logistic(alpha * x); });
}
int32_t slipway_ThresholdedRelu(void** arguments) {
  const Call call(arguments);
  const double alpha = call.Real(0);
  return MapFloats(call, [&](double x) { return x <= alpha ? 0 : x; });
}

int32_t slipway_Gelu(void** arguments) {
  const Call call(arguments);
  return MapFloats(call, call.Integer(0) != 0 ? TanhGelu : ExactGelu);
}

int32_t slipway_Shrink(void** arguments) {
  const Call call(arguments);
  const double bias = call.Real(0);
  const double lambd = call.Real(1);
  const Type type = call.input(0).type();
  return MapNumbers(call, [&](auto x) {
    using Wide = decltype(x);
    const auto value = static_cast<double>(x);
    const double y = value < -lambd  ? value + bias
                     : value > lambd ? value - bias
                     : IsNan(value)  ? value
                                     : 0;
    if constexpr (__is_same(Wide, double)) {
      return y;
    } else {
      return Saturated<Wide>(y, type);
    }
  });
}

int32_t slipway_PRelu(void** arguments) {
  return MapPairs(Call(arguments), [](auto x, auto slope) { return x < 0 ? Times(x, slope) : x; });
}

int32_t slipway_SwiGLU(void** arguments) {
  const Call call(arguments);
  const double alpha = call.Real(0);
  return MapPairs(call, [&](auto a, auto b) {
    const auto gate = static_cast<double>(a);
    return static_cast<decltype(a)>(gate * Logistic(alpha * gate) * static_cast<double>(b));
  });
}
