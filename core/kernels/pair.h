// Pair: a number as the sum of two doubles, with about 106 bits, for what math.h needs beyond double.
//
// Source: T. J. Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik 18
// (1971); TwoSum by D. Knuth, The Art of Computer Programming, volume 2, 4.2.2.
// Operands are finite and small enough that no product overflows 2^996. Freestanding; see math.h.
#ifndef SLIPWAY_CORE_KERNELS_PAIR_H_
#define SLIPWAY_CORE_KERNELS_PAIR_H_

namespace slipway::kernels {

struct Pair {
  double high = 0;  // The sum, rounded.
  double low = 0;   // What is missing.
};

// Exactly a + b. REQUIRES: |a| >= |b|, or a is 0.
inline Pair FastTwoSum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}
// Exactly a + b.
inline Pair TwoSum(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}
// Exactly a * b, but for underflow.
inline Pair TwoProduct(double a, double b) {
  constexpr double kSplitter = 0x1p27 + 1;
  const double a_far = a * kSplitter;
  const double a_high = a_far - (a_far - a);
  const double a_low = a - a_high;
  const double b_far = b * kSplitter;
  const double b_high = b_far - (b_far - b);
  const double b_low = b - b_high;
  const double product = a * b;
  return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

inline Pair Add(Pair a, Pair b) {
  const Pair sum = TwoSum(a.high, b.high);
  return FastTwoSum(sum.high, sum.low + (a.low + b.low));
}
inline Pair Multiply(Pair a, Pair b) {
  const Pair product = TwoProduct(a.high, b.high);
  return FastTwoSum(product.high, product.low + (a.high * b.low + a.low * b.high));
}
inline Pair Divide(Pair a, Pair b) {
  const double quotient = a.high / b.high;
  const Pair product = TwoProduct(quotient, b.high);
  const double rest = (a.high - product.high) - product.low + a.low - quotient * b.low;
  return FastTwoSum(quotient, rest / b.high);
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_PAIR_H_
