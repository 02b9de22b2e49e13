#include "core/kernels/math.h"

#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

// Against the C library's functions of long double, whose error does not count where that has more bits.
namespace slipway::kernels {
namespace {

constexpr int kRandomCases = 200000;

std::vector<double> SpecialValues() {
  std::vector<double> values = {kNan,
                                kInfinity,
                                0,
                                0x1p-1074,
                                0x0.fp-1022,
                                0x1p-1022,
                                1e-300,
                                1e-10,
                                0.25,
                                0.5,
                                0.75,
                                1,
                                1.5,
                                2,
                                2.5,
                                3,
                                4.5,
                                10,
                                88.7,
                                89,
                                709.78,
                                709.79,
                                710.5,
                                745,
                                746,
                                1e5,
                                1e15,
                                0x1p52,
                                0x1p53,
                                0x1.8p53,
                                1e22,
                                0x1p63,
                                1e100,
                                1e300,
                                kPi / 4,
                                kPi / 2,
                                kPi,
                                2 * kPi,
                                0x1.fffffffffffffp1023,
                                6381956970095103 * 0x1p797};
  const size_t count = values.size();
  for (size_t i = 0; i < count; ++i) {
    values.push_back(std::nextafter(values[i], 0.));
    values.push_back(std::nextafter(values[i], kInfinity));
  }
  const size_t positive = values.size();
  for (size_t i = 0; i < positive; ++i) values.push_back(-values[i]);
  return values;
}

// Uniform over [-20, 20], over exponents and over all bit patterns.
double RandomValue(std::mt19937_64& random, int i) {
  const uint64_t bits = random();
  const double uniform = static_cast<double>(bits >> 11) * 0x1p-53;
  if (i % 4 == 0) return uniform * 40 - 20;
  if (i % 4 == 1) return uniform * 2 - 1;
  if (i % 4 == 2)
    return std::ldexp(bits & 1 ? -1 - uniform : 1 + uniform, static_cast<int>(bits >> 1 & 63) - 40);
  double any;
  std::memcpy(&any, &bits, sizeof any);
  return any;
}

// In units of the last place of the expected number; infinity where class or sign of zero differ.
double Error(double actual, long double expected) {
  const auto rounded = static_cast<double>(expected);
  if (std::isnan(rounded) || std::isnan(actual)) {
    return std::isnan(rounded) && std::isnan(actual) ? 0 : kInfinity;
  }
  if (actual == rounded) return std::signbit(actual) == std::signbit(rounded) ? 0 : kInfinity;
  const double limit = std::numeric_limits<double>::max();
  if (std::isinf(actual) != std::isinf(rounded)) {
    // Either side of where infinity begins.
    return std::fabs(std::isinf(actual) ? rounded : actual) == limit ? 1 : kInfinity;
  }
  const double magnitude = std::fabs(rounded);
  const double unit = magnitude < std::numeric_limits<double>::min()
                          ? std::numeric_limits<double>::denorm_min()
                          : std::ldexp(1., std::ilogb(magnitude) - 52);
  return static_cast<double>(std::fabs(actual - expected) / unit);
}

long double OracleLogistic(long double x) { return 1 / (1 + std::exp(-x)); }

struct Unary {
  std::string name;
  double (*function)(double);
  long double (*oracle)(long double);
  double bound;
};

TEST(MathTest, UnaryFunctionsKeepTheirBounds) {
  const Unary kFunctions[] = {
      {"Exp", Exp, std::exp, 1},
      {"Expm1", Expm1, std::expm1, 1},
      {"Log", Log, std::log, 1},
      {"Log1p", Log1p, std::log1p, 1},
      {"Sin", Sin, std::sin, 1},
      {"Cos", Cos, std::cos, 1},
      {"Atan", Atan, std::atan, 1},
      {"Erf", Erf, std::erf, 2},
      {"Logistic", Logistic, OracleLogistic, 3},
      {"Tan", Tan, std::tan, 3},
      {"Asin", Asin, std::asin, 2},
      {"Acos", Acos, std::acos, 2},
      {"Sinh", Sinh, std::sinh, 3},
      {"Cosh", Cosh, std::cosh, 2},
      {"Tanh", Tanh, std::tanh, 3},
      {"Asinh", Asinh, std::asinh, 2},
      {"Acosh", Acosh, std::acosh, 2},
      {"Atanh", Atanh, std::atanh, 2},
      {"Erfc", Erfc, std::erfc, 4},
      {"Sqrt", Sqrt, std::sqrt, 0.5},
      {"Trunc", Trunc, std::trunc, 0},
      {"Floor", Floor, std::floor, 0},
      {"Ceil", Ceil, std::ceil, 0},
      {"RoundHalfEven", RoundHalfEven, std::nearbyint, 0},
  };
  for (const Unary& f : kFunctions) {
    std::mt19937_64 random(7);
    double worst = 0;
    double worst_at = 0;
    const auto check = [&](double x) {
      const double error = Error(f.function(x), f.oracle(x));
      if (error > worst) {
        worst = error;
        worst_at = x;
      }
    };
    for (const double x : SpecialValues()) check(x);
    for (int i = 0; i < kRandomCases; ++i) check(RandomValue(random, i));
    EXPECT_LE(worst, f.bound) << f.name << " of " << testing::PrintToString(worst_at) << " is "
                              << f.function(worst_at) << ", expected "
                              << static_cast<double>(f.oracle(worst_at));
    RecordProperty(f.name, std::to_string(worst));
  }
}

struct Binary {
  std::string name;
  double (*function)(double, double);
  long double (*oracle)(long double, long double);
  double bound;
};

// glibc's for long double gives infinity for (-infinity)^-2^63, where C says 0.
long double OraclePow(long double x, long double y) {
  return std::isinf(x) ? std::pow(static_cast<double>(x), static_cast<double>(y)) : std::pow(x, y);
}

TEST(MathTest, BinaryFunctionsKeepTheirBounds) {
  const Binary kFunctions[] = {
      {"Pow", Pow, OraclePow, 1},
      {"Atan2", Atan2, std::atan2, 1},
      {"Fmod", Fmod, std::fmod, 0},
  };
  for (const Binary& f : kFunctions) {
    std::mt19937_64 random(7);
    double worst = 0;
    double worst_x = 0;
    double worst_y = 0;
    const auto check = [&](double x, double y) {
      const double error = Error(f.function(x, y), f.oracle(x, y));
      if (error > worst) {
        worst = error;
        worst_x = x;
        worst_y = y;
      }
    };
    for (const double x : SpecialValues()) {
      for (const double y : SpecialValues()) check(x, y);
    }
    for (int i = 0; i < kRandomCases; ++i) {
      check(RandomValue(random, i), RandomValue(random, i / 4));
      // Of positive bases and whole exponents, the ones that models have.
      check(std::fabs(RandomValue(random, i)), std::nearbyint(RandomValue(random, 0)));
      // Results all over the range: x to what makes about 2^exponent.
      const double x = std::fabs(RandomValue(random, i));
      check(x, static_cast<double>(i % 2200 - 1100) / std::log2(x));
    }
    EXPECT_LE(worst, f.bound) << f.name << " of " << testing::PrintToString(worst_x) << ", "
                              << testing::PrintToString(worst_y) << " is "
                              << f.function(worst_x, worst_y) << ", expected "
                              << static_cast<double>(f.oracle(worst_x, worst_y));
    RecordProperty(f.name, std::to_string(worst));
  }
}

TEST(MathTest, TellsKindsOfNumbers) {
  EXPECT_TRUE(IsNan(-kNan));
  EXPECT_FALSE(IsNan(kInfinity));
  EXPECT_TRUE(IsInfinite(-kInfinity));
  EXPECT_FALSE(IsInfinite(kNan));
  EXPECT_FALSE(IsInfinite(std::numeric_limits<double>::max()));
  EXPECT_TRUE(IsNegative(-0.0));
  EXPECT_FALSE(IsNegative(0.0));
}

}  // namespace
}  // namespace slipway::kernels
