// Functions of vectors against the C library's, over all that an f32 may be.
#include "core/kernels/vectors.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace slipway::kernels {
namespace {

constexpr double kError = 5e-7;
constexpr float kInfinite = std::numeric_limits<float>::infinity();

// The largest relative error where `exact` is a normal number, between two arguments.
template <typename Function, typename Exact>
double ErrorOf(Function function, Exact exact, float lowest, float highest) {
  constexpr int kArguments = 200000;
  double worst = 0;
  for (int i = 0; i <= kArguments; i += kLanes) {
    Vector x;
    for (int lane = 0; lane < kLanes; ++lane) {
      x[lane] = lowest + (highest - lowest) * static_cast<float>(i + lane) / kArguments;
    }
    const Vector y = function(x);
    for (int lane = 0; lane < kLanes; ++lane) {
      const double wanted = exact(static_cast<double>(x[lane]));
      if (std::fabs(wanted) < std::numeric_limits<float>::min()) continue;
      worst = std::fmax(worst, std::fabs(y[lane] / wanted - 1));
    }
  }
  return worst;
}

TEST(VectorsTest, FunctionsAreAsExactAsStated) {
  const auto exp = [](double x) { return std::exp(x); };
  const auto expm1 = [](double x) { return std::expm1(x); };
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const auto tanh = [](double x) { return std::tanh(x); };
  EXPECT_LT(ErrorOf(ExpOf, exp, -87, 88), kError);
  EXPECT_LT(ErrorOf(ExpOfNegative, exp, -87, 0), kError);
  for (const float bound : {80.0f, 1.0f, 1e-3f}) {
    EXPECT_LT(ErrorOf(ExpLessOneOf, expm1, -bound, bound), kError) << bound;
    EXPECT_LT(ErrorOf(LogOfOneAndExpOf, softplus, -bound, bound), kError) << bound;
    EXPECT_LT(ErrorOf(SigmoidOf, sigmoid, -bound, bound), kError) << bound;
    EXPECT_LT(ErrorOf(TanhOf, tanh, -bound, bound), kError) << bound;
  }
}

TEST(VectorsTest, InfinitiesHaveTheirLimits) {
  EXPECT_FLOAT_EQ(ExpLessOneOf(Broadcast(-kInfinite))[0], -1);
  EXPECT_NEAR(ExpOf(Broadcast(-kInfinite))[0], 0, 1e-37);
  EXPECT_EQ(ExpOfNegative(Broadcast(-kInfinite))[0], 0);
  EXPECT_EQ(LogOfOneAndExpOf(Broadcast(kInfinite))[0], kInfinite);
  EXPECT_NEAR(LogOfOneAndExpOf(Broadcast(-kInfinite))[0], 0, 1e-37);
  EXPECT_FLOAT_EQ(SigmoidOf(Broadcast(kInfinite))[0], 1);
  EXPECT_NEAR(SigmoidOf(Broadcast(-kInfinite))[0], 0, 1e-37);
  EXPECT_FLOAT_EQ(TanhOf(Broadcast(kInfinite))[0], 1);
  EXPECT_FLOAT_EQ(TanhOf(Broadcast(-kInfinite))[0], -1);
}

TEST(VectorsTest, NanGoesThrough) {
  const Vector nan = Broadcast(std::numeric_limits<float>::quiet_NaN());
  for (const auto function :
       {ExpOf, ExpOfNegative, ExpLessOneOf, LogOfOneAndExpOf, SigmoidOf, TanhOf}) {
    EXPECT_TRUE(std::isnan(function(nan)[0]));
  }
  EXPECT_TRUE(std::isnan(Within(nan, -1, 1)[0]));
}

}  // namespace
}  // namespace slipway::kernels
