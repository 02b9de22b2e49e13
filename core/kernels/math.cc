// Exponentials and what rests on them. Sources:
//   reduction by ln 2: W. J. Cody and W. Waite, Software Manual for the Elementary Functions, 1980;
//   logarithm by 2 artanh((m - 1) / (m + 1)), and pairs where a double is too short: J.-M. Muller, Elementary
//   Functions: Algorithms and Implementation, 3rd edition, chapters 3 and 11;
//   complementary error function as a Chebyshev series in (x - k) / (x + k): M. M. Shepherd and J. G. Laframboise,
//   "Chebyshev approximation of (1 + 2x) exp(x^2) erfc(x) in 0 <= x < inf", Mathematics of Computation 36 (1981). Its
//   coefficients were computed anew with 200 bits, from 64 Chebyshev nodes.
// Power series have the coefficients of Taylor's.
#include "core/kernels/math.h"

#include "core/kernels/pair.h"

namespace slipway::kernels {
namespace {

constexpr Pair kLn2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// REQUIRES: -1022 <= exponent <= 1023
double PowerOfTwo(int exponent) {
  return __builtin_bit_cast(double, static_cast<int64_t>(exponent + 1023) << 52);
}
// x * 2^exponent, rounded once. REQUIRES: |exponent| <= 2000, 0.25 < |x| < 4
double Scale(double x, int exponent) {
  const int half = exponent / 2;
  return x * PowerOfTwo(half) * PowerOfTwo(exponent - half);
}

// x = k ln 2 + rest, |rest| <= ln 2 / 2. REQUIRES: |x| <= 800
struct Reduced {
  int k;
  Pair rest;
};
Reduced ReduceByLn2(Pair x) {
  // The first part is so short that its product with k is exact.
  constexpr double kFirst = 0x1.62e42feep-1;
  constexpr double kSecond = 0x1.a39ef35793c76p-33;
  const double k = RoundHalfEven(x.high * 0x1.71547652b82fep+0);
  const Pair rest = TwoSum(x.high - k * kFirst, -k * kSecond);
  return {static_cast<int>(k), FastTwoSum(rest.high, rest.low + x.low)};
}

// e^x - 1. REQUIRES: |x| <= 0.36
Pair Expm1Near0(Pair x) {
  constexpr double kFactors[] = {1. / 2,       1. / 6,         1. / 24,        1. / 120,
                                 1. / 720,     1. / 5040,      1. / 40320,     1. / 362880,
                                 1. / 3628800, 1. / 39916800., 1. / 479001600, 1. / 6227020800.};
  double sum = 0;
  for (int i = sizeof kFactors / sizeof(double) - 1; i >= 0; --i) sum = sum * x.high + kFactors[i];
  return FastTwoSum(x.high, sum * x.high * x.high + (x.low + x.low * x.high));
}

// e^x for any x.
double ExpOfPair(Pair x) {
  if (x.high > 710) return kInfinity;
  if (x.high < -746) return 0;
  const Reduced reduced = ReduceByLn2(x);
  const Pair rest = Expm1Near0(reduced.rest);
  const Pair sum = FastTwoSum(1, rest.high);
  return Scale(sum.high + (sum.low + rest.low), reduced.k);
}

// The logarithm with a relative error of about 2^-65. REQUIRES: 0 < x < infinity
Pair LogAsPair(double x) {
  int exponent = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    exponent = -54;
  }
  // x = m 2^exponent, m from sqrt(1/2) to sqrt(2).
  constexpr int64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  const int64_t bits = __builtin_bit_cast(int64_t, x);
  const int64_t offset = (bits - kSqrtHalf) >> 52;
  exponent += static_cast<int>(offset);
  const double m = __builtin_bit_cast(double, bits - (offset << 52));
  // 2 (s + s^3/3 + s^5/5 + ...); the first two terms are what a double is too short for.
  const Pair s = Divide({m - 1, 0}, TwoSum(m, 1));
  const Pair square = Multiply(s, s);
  const double z = square.high;
  double tail = 0;
  for (int denominator = 23; denominator >= 5; denominator -= 2) tail = tail * z + 1. / denominator;
  constexpr Pair kThird = {0x1.5555555555555p-2, 0x1.5555555555555p-56};
  const Pair factor = Add(Multiply(square, kThird), {tail * z * z, 0});
  const Pair sum = Add(s, Multiply(s, factor));
  const Pair power = Multiply(kLn2, {static_cast<double>(exponent), 0});
  return Add(power, {2 * sum.high, 2 * sum.low});
}

// Whether y is an odd whole number. From 2^53 on, all are even.
bool IsOdd(double y) {
  return Abs(y) < 0x1p53 && Trunc(y) == y && (static_cast<int64_t>(y) & 1) != 0;
}

// (1 + 2x) e^(x^2) erfc(x) for x >= 0.
double ScaledErfc(double x) {
  constexpr double kSeries[] = {
      2.3551578691348034,     -0.004590054580646478,   -0.08424913336651792,
      0.05920993999819189,    -0.026658668435305753,   0.009074997670705265,
      -0.002413163540417608,  0.0004907758365258086,   -6.916973302501207e-05,
      4.13902798607301e-06,   7.74038306619849e-07,    -2.1886401049234397e-07,
      1.076499946567091e-08,  4.521959811218287e-09,   -7.754400208831351e-10,
      -6.318088340886684e-11, 2.86879501093067e-11,    1.9455868545777347e-13,
      -9.65469674843344e-13,  3.25254814814874e-14,    3.3478119482868056e-14,
      -1.864562880419313e-15, -1.2507950530688648e-15, 7.418235256624044e-17,
      5.068148904796111e-17};
  const double t = (x - 3.75) / (x + 3.75);
  // Clenshaw's recurrence.
  double next = 0;
  double after = 0;
  for (int i = sizeof kSeries / sizeof(double) - 1; i > 0; --i) {
    const double term = 2 * t * next - after + kSeries[i];
    after = next;
    next = term;
  }
  return t * next - after + kSeries[0] / 2;
}

}  // namespace

double RoundHalfEven(double x) {
  if (!(Abs(x) < 0x1p52)) return x;
  return CopySign((Abs(x) + 0x1p52) - 0x1p52, x);
}

double Fmod(double x, double y) {
  if (IsNan(x) || IsNan(y) || IsInfinite(x) || y == 0) return kNan;
  if (Abs(x) < Abs(y)) return x;
  // Both as whole numbers times powers of two, that of y the smaller one: long division in steps of 11 bits.
  struct Whole {
    uint64_t number;
    int exponent;
  };
  const auto whole = [](double value) {
    const uint64_t bits = __builtin_bit_cast(uint64_t, value);
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
    return exponent == 0 ? Whole{fraction, 1} : Whole{fraction | uint64_t{1} << 52, exponent};
  };
  const Whole divisor = whole(y);
  Whole rest = whole(x);
  int left = rest.exponent - divisor.exponent;
  rest.number %= divisor.number;
  for (; left > 0 && rest.number != 0; left -= 11) {
    rest.number = (rest.number << (left < 11 ? left : 11)) % divisor.number;
  }
  // The rest is below y: it fits in 53 bits, and multiplying by y's power of two in two steps is exact.
  const int exponent = divisor.exponent - 1075;
  const double high = exponent < -1022 ? PowerOfTwo(exponent + 1000) : PowerOfTwo(exponent);
  const double result = static_cast<double>(rest.number) * high;
  return CopySign(exponent < -1022 ? result * 0x1p-1000 : result, x);
}

double Exp(double x) { return IsNan(x) ? x : ExpOfPair({x, 0}); }

double Expm1(double x) {
  if (IsNan(x) || Abs(x) < 0x1p-54) return x;
  if (x > 40) return ExpOfPair({x, 0});  // Less 1, which is below half of an ULP.
  if (x < -40) return -1;
  const Reduced reduced = ReduceByLn2({x, 0});
  const Pair rest = Expm1Near0(reduced.rest);
  const double power = PowerOfTwo(reduced.k);
  const Pair whole = TwoSum(power, -1);
  const Pair sum = TwoSum(whole.high, power * rest.high);
  return sum.high + (sum.low + (whole.low + power * rest.low));
}

double Log(double x) {
  if (IsNan(x) || x == kInfinity) return x;
  if (x == 0) return -kInfinity;
  if (x < 0) return kNan;
  return LogAsPair(x).high;
}

double Log1p(double x) {
  if (IsNan(x) || Abs(x) < 0x1p-53 || x == kInfinity) return x;
  if (x == -1) return -kInfinity;
  if (x < -1) return kNan;
  // ln(u + v) = ln u + v/u, where v is what 1 + x lost when it was rounded to u.
  const Pair sum = TwoSum(1, x);
  const double lost = sum.low / sum.high;
  return Add(LogAsPair(sum.high), {lost - lost * lost / 2, 0}).high;
}

double Pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (IsNan(x) || IsNan(y)) return x + y;
  const double magnitude = Abs(x);
  if (IsInfinite(y)) {
    if (magnitude == 1) return 1;
    return (magnitude > 1) == (y > 0) ? kInfinity : 0;
  }
  const double sign = IsNegative(x) && IsOdd(y) ? -1 : 1;
  if (x == 0 || IsInfinite(x)) return sign * ((x == 0) == (y < 0) ? kInfinity : 0);
  if (x < 0 && Trunc(y) != y) return kNan;
  if (magnitude == 1) return sign;
  const Pair log = LogAsPair(magnitude);
  const double exponent = log.high * y;
  if (Abs(exponent) > 800) return sign * (exponent > 0 ? kInfinity : 0);
  return sign * ExpOfPair(Multiply(log, {y, 0}));
}

double Logistic(double x) {
  // Either way the exponential is of a negative number, which does not overflow.
  if (x >= 0) return 1 / (1 + Exp(-x));
  const double e = Exp(x);
  return e / (1 + e);
}

double Sinh(double x) {
  const double magnitude = Abs(x);
  if (IsNan(x) || magnitude < 0x1p-28) return x;
  if (magnitude > 40) {
    const double root = Exp(magnitude / 2);
    return CopySign(root / 2 * root, x);
  }
  const double e = Expm1(magnitude);
  return CopySign((e + e / (e + 1)) / 2, x);
}

double Cosh(double x) {
  const double magnitude = Abs(x);
  if (magnitude > 40) {
    const double root = Exp(magnitude / 2);
    return root / 2 * root;
  }
  const double e = Exp(magnitude);
  return (e + 1 / e) / 2;
}

double Tanh(double x) {
  const double magnitude = Abs(x);
  if (IsNan(x) || magnitude < 0x1p-28) return x;
  if (magnitude > 22) return CopySign(1, x);
  const double e = Expm1(2 * magnitude);
  return CopySign(magnitude < 1 ? e / (e + 2) : 1 - 2 / (e + 2), x);
}

double Asinh(double x) {
  const double magnitude = Abs(x);
  if (IsNan(x) || magnitude < 0x1p-28) return x;
  if (magnitude > 0x1p28) return CopySign(Log(magnitude) + kLn2.high, x);
  const double square = magnitude * magnitude;
  return CopySign(Log1p(magnitude + square / (1 + Sqrt(1 + square))), x);
}

double Acosh(double x) {
  if (x < 1) return kNan;
  if (x > 0x1p28) return Log(x) + kLn2.high;
  const double above = x - 1;
  return Log1p(above + Sqrt(above * (x + 1)));
}

double Atanh(double x) {
  const double magnitude = Abs(x);
  if (magnitude < 0x1p-28) return x;
  if (magnitude > 1) return kNan;
  return CopySign(Log1p(2 * magnitude / (1 - magnitude)) / 2, x);
}

double Erf(double x) {
  const double magnitude = Abs(x);
  if (IsNan(x) || x == 0) return x;
  if (magnitude >= 1) return CopySign(1 - Erfc(magnitude), x);
  // 2 / sqrt(pi) (x - x^3 / (3 1!) + x^5 / (5 2!) - ...)
  constexpr Pair kFactor = {0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56};
  const double square = x * x;
  double sum = 0;
  for (int n = 19; n >= 1; --n) sum = (1. / (2 * n + 1) - sum) * square / n;
  // sum is 1 less what x times the factor is to be multiplied by.
  const Pair linear = TwoProduct(x, kFactor.high);
  return linear.high + (linear.low + x * kFactor.low - linear.high * sum);
}

double Erfc(double x) {
  if (IsNan(x)) return x;
  if (x < 0.5) return 1 - Erf(x);
  if (x > 28) return 0;
  const Pair square = TwoProduct(x, x);
  return ExpOfPair({-square.high, -square.low}) * (ScaledErfc(x) / (1 + 2 * x));
}

}  // namespace slipway::kernels
