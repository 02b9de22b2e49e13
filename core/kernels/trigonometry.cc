// Circular functions and their inverses. Sources:
//   reduction of arguments: M. H. Payne and R. N. Hanek, "Radian reduction for trigonometric functions", ACM SIGNUM
//   Newsletter 18 (1983);
//   arctangent from a table and the addition theorem: J.-M. Muller, Elementary Functions: Algorithms and Implementation,
//   3rd edition, chapter 6.
// Power series have the coefficients of Taylor's.
#include "core/kernels/math.h"
#include "core/kernels/pair.h"

namespace slipway::kernels {
namespace {

constexpr Pair kHalfPi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

// An angle less a multiple of pi/2: that multiple, of which only the lowest two bits count, and what remains, at most
// pi/4 either way.
struct Angle {
  int quadrant = 0;
  Pair rest;
};

// The fraction high * 2^-64 + middle * 2^-128 + low * 2^-192 as a number. REQUIRES: it is not 0.
Pair FromFraction(uint64_t high, uint64_t middle, uint64_t low) {
  int exponent = 0;
  for (; high == 0; exponent -= 64) {
    high = middle;
    middle = low;
    low = 0;
  }
  const int zeros = __builtin_clzll(high);
  if (zeros > 0) {
    high = high << zeros | middle >> (64 - zeros);
    middle = middle << zeros | low >> (64 - zeros);
  }
  // 0x1p-n is 2^-n; the least exponent here is -64 - 64 - 63.
  double scale = 0x1p-53;
  for (int shift = zeros - exponent; shift > 0; --shift) scale /= 2;
  const uint64_t next = (high & 0x7ff) << 42 | middle >> 22;
  return FastTwoSum(static_cast<double>(high >> 11) * scale,
                    static_cast<double>(next) * (scale * 0x1p-53));
}

// a * b of 128 bits, which not every architecture has integers for.
struct WideProduct {
  uint64_t high = 0;
  uint64_t low = 0;
};
WideProduct Multiply(uint64_t a, uint64_t b) {
  constexpr uint64_t kLowHalf = 0xffffffff;
  const uint64_t of_low = (a & kLowHalf) * (b & kLowHalf);
  const uint64_t of_middle = (a >> 32) * (b & kLowHalf) + (of_low >> 32);  // No sum here overflows.
  const uint64_t of_other = (a & kLowHalf) * (b >> 32) + (of_middle & kLowHalf);
  return {(a >> 32) * (b >> 32) + (of_middle >> 32) + (of_other >> 32),
          of_other << 32 | (of_low & kLowHalf)};
}

// REQUIRES: x is finite.
Angle Reduce(double x) {
  if (Abs(x) <= kHalfPi.high / 2) return {0, {x, 0}};
  // 64 zeros, then the binary digits of 2/pi behind the point.
  static constexpr uint64_t kTwoOverPi[] = {0,
                                            0xa2f9836e4e441529,
                                            0xfc2757d1f534ddc0,
                                            0xdb6295993c439041,
                                            0xfe5163abdebbc561,
                                            0xb7246e3a424dd2e0,
                                            0x06492eea09d1921c,
                                            0xfe1deb1cb129a73e,
                                            0xe88235f52ebb4484,
                                            0xe99c7026b45f7e41,
                                            0x3991d639835339f4,
                                            0x9c845f8bbdf9283b,
                                            0x1ff897ffde05980f,
                                            0xef2f118b5a0a6d1f,
                                            0x6d367ecf27cb09b7,
                                            0x4f463f669e5fea2d,
                                            0x7527bac7ebe5f17b,
                                            0x3d0739f78a5292ea,
                                            0x6bfb5fb11f8d5d08,
                                            0x56033046fc7b6bab};
  const uint64_t bits = __builtin_bit_cast(uint64_t, x);
  const uint64_t m = (bits & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1075;  // |x| = m 2^exponent
  // Digits that make multiples of four quadrants are left out. Of the others, 192 are enough: no double comes closer to a
  // multiple of pi/2 than 2^-62.
  const int first = exponent - 2 + 64;
  const auto digits = [first](int word) {
    const int index = first / 64 + word;
    const int shift = first % 64;
    return shift == 0 ? kTwoOverPi[index]
                      : kTwoOverPi[index] << shift | kTwoOverPi[index + 1] >> (64 - shift);
  };
  // The product modulo four quadrants, as a fraction of these.
  const WideProduct of_low = Multiply(m, digits(2));
  const WideProduct of_middle = Multiply(m, digits(1));
  const uint64_t middle = of_middle.low + of_low.high;
  const uint64_t carry = middle < of_low.high;
  const uint64_t high = m * digits(0) + of_middle.high + carry;
  const uint64_t low = of_low.low;
  // What is behind the quadrant's two bits.
  uint64_t words[] = {high << 2 | middle >> 62, middle << 2 | low >> 62, low << 2};
  int quadrant = static_cast<int>(high >> 62);
  double sign = 1;
  if (words[0] >> 63 != 0) {  // Half a quadrant and more: back from the next one.
    ++quadrant;
    sign = -1;
    // The complement, 2^-192 short of the negative.
    for (uint64_t& word : words) word = ~word;
  }
  const Pair rest = Multiply(FromFraction(words[0], words[1], words[2]), kHalfPi);
  if (x < 0) {
    quadrant = -quadrant;
    sign = -sign;
  }
  return {quadrant, {sign * rest.high, sign * rest.low}};
}

// Of |x| <= pi/4, and a little more.
double SinNear0(Pair x) {
  constexpr double kFactors[] = {
      -1. / 6,        1. / 120,         -1. / 5040,         1. / 362880,
      -1. / 39916800, 1. / 6227020800., -1. / 1307674368e3, 1. / 355687428096e3};
  const double square = x.high * x.high;
  double sum = 0;
  for (int i = sizeof kFactors / sizeof(double) - 1; i >= 0; --i) sum = sum * square + kFactors[i];
  return x.high + (x.high * square * sum + x.low * (1 - square / 2));
}
double CosNear0(Pair x) {
  constexpr double kFactors[] = {1. / 24,           -1. / 720,       1. / 40320,
                                 -1. / 3628800,     1. / 479001600., -1. / 87178291200.,
                                 1. / 20922789888e3};
  const Pair square = TwoProduct(x.high, x.high);
  const double z = square.high;
  double sum = 0;
  for (int i = sizeof kFactors / sizeof(double) - 1; i >= 0; --i) sum = sum * z + kFactors[i];
  const Pair first = FastTwoSum(1, -z / 2);
  return first.high + (first.low + (z * z * sum - (square.low / 2 + x.high * x.low)));
}

// The angle whose tangent is `least / greatest`. REQUIRES: 0 <= least <= greatest; 2^-500 < greatest < 2^900
Pair ArcOfRatio(double least, double greatest) {
  // Of k/8.
  constexpr Pair kArcs[] = {
      {0, 0},
      {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
      {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
      {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
      {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
      {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
      {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
      {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
      {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
  };
  const int k = static_cast<int>(least / greatest * 8 + 0.5);
  const double near = k / 8.;
  const Pair of_greatest = TwoProduct(greatest, -near);
  const Pair of_least = TwoProduct(least, near);
  const Pair t = Divide(Add({least, 0}, of_greatest), Add({greatest, 0}, of_least));
  // |t| <= 1/16, and a little more.
  const double square = t.high * t.high;
  double sum = 0;
  for (int denominator = 15; denominator >= 3; denominator -= 2) {
    sum = 1. / denominator - sum * square;
  }
  return Add(kArcs[k], FastTwoSum(t.high, t.low - t.high * square * sum));
}

}  // namespace

double Sin(double x) {
  if (IsNan(x - x)) return kNan;
  if (Abs(x) < 0x1p-27) return x;
  const Angle angle = Reduce(x);
  const double value = angle.quadrant & 1 ? CosNear0(angle.rest) : SinNear0(angle.rest);
  return angle.quadrant & 2 ? -value : value;
}

double Cos(double x) {
  if (IsNan(x - x)) return kNan;
  const Angle angle = Reduce(x);
  const double value = angle.quadrant & 1 ? SinNear0(angle.rest) : CosNear0(angle.rest);
  return (angle.quadrant + 1) & 2 ? -value : value;
}

double Tan(double x) {
  if (IsNan(x - x)) return kNan;
  if (Abs(x) < 0x1p-27) return x;
  const Angle angle = Reduce(x);
  const double sin = SinNear0(angle.rest);
  const double cos = CosNear0(angle.rest);
  return angle.quadrant & 1 ? -cos / sin : sin / cos;
}

double Asin(double x) {
  if (Abs(x) > 1) return kNan;
  return Atan2(x, Sqrt((1 - x) * (1 + x)));
}

double Acos(double x) {
  if (Abs(x) > 1) return kNan;
  return Atan2(Sqrt((1 - x) * (1 + x)), x);
}

double Atan(double x) { return Atan2(x, 1); }

double Atan2(double y, double x) {
  if (IsNan(x) || IsNan(y)) return kNan;
  double height = Abs(y);
  double width = Abs(x);
  if (IsInfinite(height) && IsInfinite(width)) height = width = 1;
  const bool steep = height > width;
  double least = steep ? width : height;
  double greatest = steep ? height : width;
  Pair arc;
  if (greatest == 0 || IsInfinite(greatest)) {
    arc = {0, 0};
  } else if (const double ratio = least / greatest; ratio < 0x1p-60) {
    arc = {ratio, 0};
  } else {
    const double scale = greatest > 0x1p500 ? 0x1p-600 : greatest < 0x1p-400 ? 0x1p600 : 1;
    arc = ArcOfRatio(least * scale, greatest * scale);
  }
  if (steep) arc = Add(kHalfPi, {-arc.high, -arc.low});
  if (IsNegative(x)) arc = Add({2 * kHalfPi.high, 2 * kHalfPi.low}, {-arc.high, -arc.low});
  return CopySign(arc.high, y);
}

}  // namespace slipway::kernels
