#include "core/codegen/float_math.h"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

#include "core/codegen/element_function.h"

namespace slipway {
namespace {

using Halide::cast;
using Halide::Expr;
using Halide::select;
using Halide::strict_float;

// Keeps a NaN argument where `value` was computed by bit arithmetic that lost it.
Expr KeepNan(Expr x, Expr value) { return SelectStrictly(IsNan(x), x, value); }

// The coefficients' polynomial, that of the highest power first.
Expr Polynomial(Expr x, std::initializer_list<float> coefficients) {
  Expr sum = *coefficients.begin();
  for (const float* c = coefficients.begin() + 1; c != coefficients.end(); ++c) sum = sum * x + *c;
  return sum;
}

// Infinities, too: what is not strict takes all numbers for finite.
Expr WithinBounds(Expr x, float low, float high) {
  return strict_float(Halide::clamp(std::move(x), low, high));
}

// Beyond these bounds e^x is no normal number.
constexpr float kLowestExponent = -87.33654f;
constexpr float kHighestExponent = 88.72283f;

// e^(sign x) of what lies within the bounds: whole powers of 2, and for the rest a polynomial fitted to it (relative error 3e-9), in
// an order that lets its parts be computed at once. Loops wait for what an element takes from begin to end.
template <int sign>
Expr ExpBody(const Expr& x) {
  // A sum of this size has no fraction, and its last bits are a whole number.
  const Expr shifted = x * 1.44269504f + 12582912.0f;
  const Expr whole = strict_float(shifted - 12582912.0f);
  // The first product is exact. Were it the only one, LLVM would multiply before it subtracts.
  const Expr rest = strict_float(x - whole * 0.693359375f) + whole * 2.12194440e-4f;
  const Expr square = rest * rest;
  const Expr ends = sign > 0 ? 1.0f + rest : 1.0f - rest;
  const Expr first = 0.49999994f + rest * (sign * 0.16666521f);
  const Expr second = 0.041668389f + rest * (sign * 0.0083687454f) + square * 0.0013814540f;
  const Halide::Type bits = Halide::UInt(32, x.type().lanes());
  const Expr value = Halide::reinterpret(bits, ends + square * (first + square * second));
  const Expr exponent = Halide::reinterpret(bits, shifted) << 23;
  return Halide::reinterpret(x.type(), sign > 0 ? value + exponent : value - exponent);
}

// x times a quotient of polynomials of its square, fitted to erf(x) / x between 0 and 4 (relative error 7e-8).
Expr ErfBody(const Expr& x) {
  const Expr square = x * x;
  const Expr above =
      Polynomial(square, {1.9109389626237316e-08f, -1.942195467563579e-06f, 0.0001472802832722664f,
                          0.003990519791841507f, 0.05152492597699165f, 0.20712557435035706f,
                          1.1283791065216064f});
  const Expr below = Polynomial(square, {0.0010210821637883782f, 0.014958054758608341f,
                                         0.11797086894512177f, 0.5168915390968323f, 1.0f});
  return x * strict_float(above / below);
}

// x times a quotient of polynomials of its square, fitted to tanh(x) / x up to 7.9 (as Eigen has it; relative error 5e-7).
Expr TanhBody(const Expr& x) {
  const Expr square = x * x;
  const Expr above =
      Polynomial(square, {-2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f,
                          5.12229709037114e-08f, 1.48572235717979e-05f, 6.37261928875436e-04f,
                          4.89352455891786e-03f});
  const Expr below = Polynomial(square, {1.19825839466702e-06f, 1.18534705686654e-04f,
                                         2.26843463243900e-03f, 4.89352518554385e-03f});
  return x * strict_float(above / below);
}

constexpr ElementFunction kErf = {"slipway_erf", ErfBody};
constexpr ElementFunction kLoose = {"slipway_loose", [](const Expr& x) { return x; }};
constexpr ElementFunction kExp = {"slipway_exp", ExpBody<1>};
constexpr ElementFunction kExpOfNegative = {"slipway_exp_of_negative", ExpBody<-1>};
constexpr ElementFunction kTanh = {"slipway_tanh", TanhBody};

// e^x with infinity above the bounds, and below them what it is at the lower one.
Expr ExpOrInfinity(const Expr& x) {
  const Expr within = WithinBounds(x, kLowestExponent, kHighestExponent);
  return SelectStrictly(x > kHighestExponent, std::numeric_limits<float>::infinity(),
                        CallElementFunction(kExp, within));
}

// And 0 below them.
Expr UnboundedExp(const Expr& x) {
  return SelectStrictly(x < kLowestExponent, 0.0f, ExpOrInfinity(x));
}

// How many turns 2^(e - 150) is, without the whole ones, for each exponent e of an f32: as a fraction of 64 bits.
// By M. H. Payne and R. N. Hanek, "Radian reduction for trigonometric functions", ACM SIGNUM Newsletter 18 (1983).
Halide::Buffer<uint64_t> TurnsOfExponents() {
  // 1 / (2 pi): the binary digits behind the point.
  constexpr uint64_t kDigits[] = {0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410,
                                  0x7f9458eaf7aef158};
  Halide::Buffer<uint64_t> turns(256);  // Without a name: a kernel may hold several.
  for (int e = 0; e < 256; ++e) {
    const int first = e - 150;  // The digits from there on are behind the point.
    uint64_t bits = 0;
    for (int i = 0; i < 64; ++i) {
      const int digit = first + i;
      const bool is_set = digit >= 0 && (kDigits[digit / 64] >> (63 - digit % 64) & 1) != 0;
      bits = bits << 1 | static_cast<uint64_t>(is_set);
    }
    turns(e) = bits;
  }
  return turns;
}

// The sine of |x|, or what a number of quarters of a turn ahead of it is. Near 0 and near a quarter the power series.
Expr CircularOf(Expr x, int quarters) {
  const Expr bits = Halide::reinterpret<uint32_t>(x);
  const Expr exponent = cast<int32_t>((bits >> 23) & 255);
  const Expr mantissa = cast<uint64_t>((bits & 0x7fffff) | 0x800000);
  // Whole turns fall out of the 64 bits of the product.
  const Expr turns = mantissa * TurnsOfExponents()(exponent);
  const Expr quarter = (turns + (Expr(uint64_t{1}) << 61)) >> 62;
  const Expr rest = cast<int64_t>(turns - (quarter << 62));
  const float infinity = std::numeric_limits<float>::infinity();
  const float radians = 3.40612158e-19f;  // 2 pi / 2^64
  const Expr magnitude = Halide::abs(x);
  const bool is_sine = quarters == 0;
  const Expr near = select(magnitude < 0.75f, magnitude, cast<float>(rest) * radians);
  const Expr at = select(magnitude < 0.75f, 0, cast<int32_t>(quarter)) + quarters;
  const Expr square = near * near;
  const Expr sine = near + near * square *
                               Polynomial(square, {2.75573192e-6f, -1.98412698e-4f, 8.33333333e-3f,
                                                   -1.66666667e-1f});
  const Expr cosine = 1.0f + square * Polynomial(square, {-2.75573192e-7f, 2.48015873e-5f,
                                                          -1.38888889e-3f, 4.16666667e-2f, -0.5f});
  Expr value = select((at & 1) != 0, cosine, sine);
  value = select((at & 2) != 0, -value, value);
  if (is_sine) value = SelectStrictly(x < 0.0f, -value, SelectStrictly(x == 0.0f, x, value));
  return SelectStrictly(magnitude < infinity, value, std::numeric_limits<float>::quiet_NaN());
}

}  // namespace

Expr TruthOf(Expr condition) {
  return SelectStrictly(std::move(condition), cast<uint8_t>(1), cast<uint8_t>(0));
}

Expr Strictly(Expr value) {
  return value.type().is_float() ? strict_float(std::move(value)) : value;
}

Expr Loosely(Expr x) { return CallElementFunction(kLoose, std::move(x)); }

Expr SelectStrictly(Expr condition, Expr a, Expr b) {
  return strict_float(select(std::move(condition), std::move(a), std::move(b)));
}

Expr IsNan(Expr x) {
  const Halide::Type type = x.type();
  const Halide::Type bits = Halide::Int(type.bits());
  const Expr infinity = Halide::Internal::make_const(type, std::numeric_limits<double>::infinity());
  return (Halide::reinterpret(bits, std::move(x)) & bits.max()) >
         Halide::reinterpret(bits, infinity);
}

Expr MaxOf(Expr a, Expr b) {
  if (!a.type().is_float()) return Halide::max(a, b);
  if (Halide::Internal::is_const(b)) return SelectStrictly(a < b, b, a);
  return SelectStrictly(IsNan(a) || a > b, a, b);
}

Expr MinOf(Expr a, Expr b) {
  if (!a.type().is_float()) return Halide::min(a, b);
  if (Halide::Internal::is_const(b)) return SelectStrictly(a > b, b, a);
  return SelectStrictly(IsNan(a) || a < b, a, b);
}

Expr LowestOf(Halide::Type type) {
  if (type.is_float()) return cast(type, -std::numeric_limits<float>::infinity());
  return type.min();
}

Expr HighestOf(Halide::Type type) {
  if (type.is_float()) return cast(type, std::numeric_limits<float>::infinity());
  return type.max();
}

Expr CosOf(Expr x) { return CircularOf(std::move(x), 1); }
Expr SinOf(Expr x) { return CircularOf(std::move(x), 0); }

// Beyond 3.9 nothing but 1 is near.
Expr ErfOf(Expr x) {
  const Expr near = CallElementFunction(kErf, WithinBounds(x, -4.0f, 4.0f));
  return KeepNan(x, select(Halide::abs(x) < 3.9f, near, select(x < 0.0f, -1.0f, 1.0f)));
}

Expr ExpOf(Expr x) { return KeepNan(x, UnboundedExp(x)); }

// Near zero the power series, where the difference would lose digits.
Expr ExpLessOneOf(Expr x) {
  const Expr series =
      x * Polynomial(x, {2.48015873e-5f, 1.98412698e-4f, 1.38888889e-3f, 8.33333333e-3f,
                         4.16666667e-2f, 1.66666667e-1f, 0.5f, 1.0f});
  return KeepNan(x, select(Halide::abs(x) < 0.5f, series, ExpOrInfinity(x) - 1.0f));
}

Expr LogOf(Expr x) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Expr value =
      Halide::Internal::halide_log(Halide::max(x, std::numeric_limits<float>::min()));
  return SelectStrictly(
      x > 0.0f, SelectStrictly(x < infinity, value, x),
      SelectStrictly(x == 0.0f, -infinity, std::numeric_limits<float>::quiet_NaN()));
}

// max(x, 0) + ln(1 + e^-|x|), whose logarithm is the series of twice the inverse hyperbolic tangent of t / (2 + t).
Expr LogOfOneAndExpOf(Expr x) {
  const Expr t = UnboundedExp(-Halide::abs(x));
  const Expr s = t / (2.0f + t);
  const Expr square = s * s;
  const Expr series = s * Polynomial(square, {0.153846154f, 0.181818182f, 0.222222222f,
                                              0.285714286f, 0.4f, 0.666666667f, 2.0f});
  return KeepNan(x, Halide::max(x, 0.0f) + series);
}

Expr PowOf(Expr base, Expr exponent) {
  // |base|^exponent; a negative base has a power only for whole exponents, negative for odd ones.
  const float infinity = std::numeric_limits<float>::infinity();
  // The product would be NaN for an infinite power of 1.
  const Expr power =
      SelectStrictly(Halide::abs(base) == 1.0f, 0.0f, exponent * LogOf(Halide::abs(base)));
  const Expr magnitude = UnboundedExp(power);
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
      SelectStrictly(IsNan(base), base, SelectStrictly(IsNan(exponent), exponent, of_numbers)));
}

// Below 2^23 by adding that, where floats have no fraction, with the number's sign, which 0 keeps. Halide's round() would call libm on some
// machines.
Expr RoundOf(Expr x) {
  const Halide::Type bits = Halide::UInt(32, x.type().lanes());
  const Expr sign = Halide::reinterpret(bits, x) & Expr(uint32_t{1} << 31);
  const Expr whole = Halide::reinterpret(x.type(), sign | Expr(uint32_t{0x4b000000}));
  const Expr rounded = strict_float(strict_float(x + whole) - whole);
  const Expr signed_zero = Halide::reinterpret(x.type(), Halide::reinterpret(bits, rounded) | sign);
  return SelectStrictly(Halide::abs(x) < 8388608.0f, signed_zero, x);
}

Expr SigmoidOf(Expr x) {
  const Expr power =
      CallElementFunction(kExpOfNegative, WithinBounds(x, -kHighestExponent, -kLowestExponent));
  return KeepNan(x, SelectStrictly(x < -kHighestExponent, 0.0f, 1.0f / (1.0f + power)));
}

// Beyond 7.9 tanh is 1 in f32.
Expr TanhOf(Expr x) {
  constexpr float kBound = 7.90531110763549805f;
  return KeepNan(x, CallElementFunction(kTanh, WithinBounds(x, -kBound, kBound)));
}

std::vector<ElementFunction> ElementFunctions() {
  return {kErf, kExp, kExpOfNegative, kLoose, kTanh};
}

}  // namespace slipway
