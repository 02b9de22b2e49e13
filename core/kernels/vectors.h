// Vectors of f32, as wide as the machine has them that a source is compiled for (defs.bzl has the list), and
// functions of them. Freestanding: see call.h.
//
// What includes this has products contracted into the sums that they are added to, where the machine can: results hang on
// the machine within the errors stated here.
#ifndef SLIPWAY_CORE_KERNELS_VECTORS_H_
#define SLIPWAY_CORE_KERNELS_VECTORS_H_

#include <stdint.h>

#pragma clang fp contract(fast)

namespace slipway::kernels {

#if defined(__AVX512F__)
inline constexpr int kLanes = 16;
inline constexpr int kVectorRegisters = 32;
#elif defined(__AVX2__)
inline constexpr int kLanes = 8;
inline constexpr int kVectorRegisters = 16;
#elif defined(__aarch64__)
inline constexpr int kLanes = 4;
inline constexpr int kVectorRegisters = 32;
#else
inline constexpr int kLanes = 4;
inline constexpr int kVectorRegisters = 16;
#endif

using Vector = float __attribute__((vector_size(kLanes * sizeof(float))));
using IntVector = int32_t __attribute__((vector_size(kLanes * sizeof(float))));

inline Vector Broadcast(float x) { return x - Vector{}; }
// Anywhere in memory.
inline Vector LoadVector(const float* from) {
  Vector x;
  __builtin_memcpy(&x, from, sizeof(x));
  return x;
}
inline void StoreVector(Vector x, float* to) { __builtin_memcpy(to, &x, sizeof(x)); }

// NaN where x is. REQUIRES: lowest <= highest.
inline Vector Within(Vector x, float lowest, float highest) {
  x = x < lowest ? Broadcast(lowest) : x;
  return x > highest ? Broadcast(highest) : x;
}
inline Vector Magnitude(Vector x) {
  return reinterpret_cast<Vector>(reinterpret_cast<IntVector>(x) & INT32_MAX);
}

// The coefficients' polynomial, that of the highest power first.
template <int kCount>
Vector Polynomial(Vector x, const float (&coefficients)[kCount]) {
  Vector sum = Broadcast(coefficients[0]);
  for (int i = 1; i < kCount; ++i) sum = sum * x + coefficients[i];
  return sum;
}

// The functions below give NaN for NaN. Their relative error is less than 5e-7 where the result is a normal number and
// nothing else is said.

// Between -87.33654 and 88.37626; something elsewhere. The series of S. Moshier's Cephes (expf.c, 1989).
inline Vector ExpWithinNormals(Vector x) {
  // A sum of this size has no fraction, and its last bits are a whole number.
  const Vector shifted = x * 1.44269504f + 12582912.0f;
  const Vector whole = shifted - 12582912.0f;
  const Vector rest = (x - whole * 0.693359375f) - whole * -2.12194440e-4f;
  const Vector series = Polynomial(rest, {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                                          4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f});
  const IntVector exponent = (reinterpret_cast<IntVector>(shifted) + 127) << 23;
  return (series * (rest * rest) + rest + 1.0f) * reinterpret_cast<Vector>(exponent);
}

// At most e^88.37, at least the smallest normal number.
inline Vector ExpOf(Vector x) { return ExpWithinNormals(Within(x, -87.33654f, 88.37626f)); }

// Of no number above 0; 0 where the result is hardly above the smallest normal number.
inline Vector ExpOfNegative(Vector x) {
  const Vector e = ExpWithinNormals(x);
  return x < -87.0f ? Vector{} : e;
}

// Near zero the power series, where the difference would lose digits.
inline Vector ExpLessOneOf(Vector x) {
  const Vector series =
      x * Polynomial(x, {2.48015873e-5f, 1.98412698e-4f, 1.38888889e-3f, 8.33333333e-3f,
                         4.16666667e-2f, 1.66666667e-1f, 0.5f, 1.0f});
  return Magnitude(x) < 0.5f ? series : ExpOf(x) - 1.0f;
}

// ln(1 + e^x): max(x, 0) and a logarithm that is the series of twice the inverse hyperbolic tangent of t / (2 + t).
inline Vector LogOfOneAndExpOf(Vector x) {
  const Vector t = ExpOf(-Magnitude(x));
  const Vector s = t / (2.0f + t);
  const Vector series = s * Polynomial(s * s, {0.153846154f, 0.181818182f, 0.222222222f,
                                               0.285714286f, 0.4f, 0.666666667f, 2.0f});
  return (x < 0.0f ? Vector{} : x) + series;
}

inline Vector SigmoidOf(Vector x) { return 1.0f / (1.0f + ExpOf(-x)); }

// x times a quotient of polynomials of its square, fitted to tanh(x) / x up to 7.9, where tanh is 1 in f32 (as Eigen has it).
inline Vector TanhOf(Vector x) {
  x = Within(x, -7.90531110763549805f, 7.90531110763549805f);
  const Vector square = x * x;
  const Vector above =
      Polynomial(square, {-2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f,
                          5.12229709037114e-08f, 1.48572235717979e-05f, 6.37261928875436e-04f,
                          4.89352455891786e-03f});
  const Vector below = Polynomial(square, {1.19825839466702e-06f, 1.18534705686654e-04f,
                                           2.26843463243900e-03f, 4.89352518554385e-03f});
  return x * above / below;
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_VECTORS_H_
