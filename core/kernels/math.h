// Mathematics of kernels: what there is no C library for in artifacts, the same on every architecture.
//
// Functions have the meaning, the special values and the signs of zero of those of C (ISO C, Annex F) that bear their
// names, over all of double: NaN, infinities, denormals and huge arguments. What leaves the domain is NaN, what is too
// large infinity; nothing is reported otherwise. Errors against the exact result are at most (ULP of double,
// math_test.cc holds them):
//   0    Trunc, Floor, Ceil, RoundHalfEven, Fmod
//   0.5  Sqrt
//   1    Exp, Expm1, Log, Log1p, Pow, Sin, Cos, Atan, Atan2
//   2    Asin, Acos, Cosh, Asinh, Acosh, Atanh, Erf
//   3    Logistic, Tan, Sinh, Tanh
//   4    Erfc
// A result that is narrowed to float or below is therefore the nearest one but in rare near-ties.
//
// Freestanding (call.h); any thread. The arithmetic must round to nearest and not be contracted or reordered: what
// includes this is compiled with CALLABLE_COPTS of defs.bzl.
#ifndef SLIPWAY_CORE_KERNELS_MATH_H_
#define SLIPWAY_CORE_KERNELS_MATH_H_

#include <stdint.h>

namespace slipway::kernels {

inline constexpr double kInfinity = __builtin_inf();
inline constexpr double kNan = __builtin_nan("");
inline constexpr double kPi = 3.14159265358979323846;

inline bool IsNan(double x) { return x != x; }
inline bool IsInfinite(double x) { return __builtin_fabs(x) == kInfinity; }
inline bool IsNegative(double x) { return __builtin_bit_cast(int64_t, x) < 0; }  // -0 and -NaN too.
inline double Abs(double x) { return __builtin_fabs(x); }
inline double CopySign(double magnitude, double sign) {
  return __builtin_copysign(magnitude, sign);
}
inline double Sqrt(double x) { return __builtin_sqrt(x); }

// To a whole number: towards zero, down, up, to the nearest and of two the even one.
inline double Trunc(double x) {
  // From 2^52 on, all numbers are whole.
  if (!(Abs(x) < 0x1p52)) return x;
  return CopySign(static_cast<double>(static_cast<int64_t>(x)), x);
}
inline double Floor(double x) {
  const double whole = Trunc(x);
  return whole > x ? whole - 1 : whole;
}
inline double Ceil(double x) {
  const double whole = Trunc(x);
  return whole < x ? CopySign(whole + 1, x) : whole;
}
double RoundHalfEven(double x);
// The rest of x / y, whose sign is that of x.
double Fmod(double x, double y);

double Exp(double x);
double Expm1(double x);
double Log(double x);
double Log1p(double x);
double Pow(double x, double y);

// 1 / (1 + e^-x)
double Logistic(double x);

double Sinh(double x);
double Cosh(double x);
double Tanh(double x);
double Asinh(double x);
double Acosh(double x);
double Atanh(double x);

// Arguments of every size are reduced exactly.
double Sin(double x);
double Cos(double x);
double Tan(double x);
double Asin(double x);
double Acos(double x);
double Atan(double x);
double Atan2(double y, double x);

double Erf(double x);
double Erfc(double x);

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_MATH_H_
