#include "core/codegen/float_math.h"

#include <limits>

namespace slipway {
namespace {

using Halide::cast;
using Halide::Expr;
using Halide::select;
using Halide::strict_float;

// Keeps a NaN argument where `value` was computed by bit arithmetic that lost it.
Expr KeepNan(Expr x, Expr value) { return strict_float(select(Halide::is_nan(x), x, value)); }

// Halide's polynomial needs a finite argument; beyond these bounds the result is 0 or infinity anyway.
Expr BoundedExp(Expr x) { return Halide::Internal::halide_exp(Halide::clamp(x, -110.0f, 110.0f)); }

}  // namespace

Expr SelectStrictly(Expr condition, Expr a, Expr b) {
  return strict_float(select(std::move(condition), std::move(a), std::move(b)));
}

Expr MaxOf(Expr a, Expr b) {
  if (!a.type().is_float()) return Halide::max(a, b);
  if (Halide::Internal::is_const(b)) return SelectStrictly(a < b, b, a);
  return SelectStrictly(Halide::is_nan(a) || a > b, a, b);
}

Expr MinOf(Expr a, Expr b) {
  if (!a.type().is_float()) return Halide::min(a, b);
  if (Halide::Internal::is_const(b)) return SelectStrictly(a > b, b, a);
  return SelectStrictly(Halide::is_nan(a) || a < b, a, b);
}

Expr LowestOf(Halide::Type type) {
  if (type.is_float()) return cast(type, -std::numeric_limits<float>::infinity());
  return type.min();
}

Expr HighestOf(Halide::Type type) {
  if (type.is_float()) return cast(type, std::numeric_limits<float>::infinity());
  return type.max();
}

Expr ExpOf(Expr x) { return KeepNan(x, BoundedExp(x)); }

Expr LogOf(Expr x) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Expr value =
      Halide::Internal::halide_log(Halide::max(x, std::numeric_limits<float>::min()));
  return SelectStrictly(
      x > 0.0f, SelectStrictly(x < infinity, value, x),
      SelectStrictly(x == 0.0f, -infinity, std::numeric_limits<float>::quiet_NaN()));
}

Expr PowOf(Expr base, Expr exponent) {
  // |base|^exponent; a negative base has a power only for whole exponents, negative for odd ones.
  const float infinity = std::numeric_limits<float>::infinity();
  // The product would be NaN for an infinite power of 1.
  const Expr power =
      SelectStrictly(Halide::abs(base) == 1.0f, 0.0f, exponent * LogOf(Halide::abs(base)));
  const Expr magnitude = BoundedExp(power);
  const Expr half = exponent * 0.5f;
  const Expr whole = Halide::floor(exponent) == exponent;
  const Expr odd = whole && Halide::floor(half) != half;
  const Expr of_negative = SelectStrictly(whole || base == -infinity || base == 0.0f,
                                          SelectStrictly(odd, -magnitude, magnitude),
                                          std::numeric_limits<float>::quiet_NaN());
  // The sign of zero shows in its reciprocal.
  const Expr negative = SelectStrictly(base == 0.0f, 1.0f / base, base) < 0.0f;
  const Expr of_numbers = SelectStrictly(negative, of_negative, magnitude);
  // What is 1 whatever the other is, NaN too.
  const Expr one = exponent == 0.0f || base == 1.0f;
  return SelectStrictly(
      one, 1.0f,
      SelectStrictly(Halide::is_nan(base), base,
                     SelectStrictly(Halide::is_nan(exponent), exponent, of_numbers)));
}

Expr SigmoidOf(Expr x) { return KeepNan(x, 1.0f / (1.0f + BoundedExp(-x))); }

// Near zero the series of S. Moshier's Cephes (tanhf.c, 1989: an odd polynomial, relative error 2e-8
// below 0.625); beyond it the definition by the exponential, which does not cancel there.
Expr TanhOf(Expr x) {
  const Expr magnitude = Halide::abs(x);
  const Expr square = x * x;
  Expr series = Expr(-5.70498872745e-3f);
  for (const float coefficient :
       {2.06390887954e-2f, -5.37397155531e-2f, 1.33314422036e-1f, -3.33332819422e-1f}) {
    series = series * square + coefficient;
  }
  series = x + x * square * series;
  const Expr tail = 1.0f - 2.0f / (BoundedExp(2.0f * magnitude) + 1.0f);
  const Expr value = select(magnitude < 0.625f, series, select(x < 0.0f, -tail, tail));
  return KeepNan(x, value);
}

}  // namespace slipway
