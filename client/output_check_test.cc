#include "client/output_check.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

NamedTensor Floats(const std::string& name, const std::vector<float>& values) {
  return {name, Tensor::Of<float>({static_cast<int64_t>(values.size())}, values)};
}

TEST(CheckOutputs, AllowsAShareOfTheLargestMagnitude) {
  const std::vector<NamedTensor> expected = {Floats("y", {-20, 1e-6f, 3})};
  EXPECT_TRUE(CheckOutputs({Floats("y", {-20, 1e-3f, 3.0019f})}, expected, 1e-4).IsPassed());
  const OutputCheck wrong = CheckOutputs({Floats("y", {-20, 1e-6f, 3.0021f})}, expected, 1e-4);
  EXPECT_FALSE(wrong.IsPassed());
  EXPECT_THAT(DescribeFailure(wrong),
              HasSubstr("output \"y\" is wrong in 1 of 3 elements, most at [2]: 3.00"));
  EXPECT_NEAR(wrong.differences.values[0].difference->mean, 0.0021 / 3, 1e-6);
  EXPECT_TRUE(CheckOutputs({Floats("y", {-20, 1e-6f, 3.0021f})}, expected, 1e-3).IsPassed());
}

TEST(CheckOutputs, CountsFloatsInBetween) {
  const float next = std::nextafter(std::nextafter(1.0f, 2.0f), 2.0f);
  const OutputCheck check = CheckOutputs({Floats("y", {next, 5})}, {Floats("y", {1, 5})}, 1e-4);
  EXPECT_EQ(check.differences.values[0].difference->ulps, 2);
  // Across 0 there are the denormal ones of both signs.
  const float least = std::numeric_limits<float>::denorm_min();
  const OutputCheck across =
      CheckOutputs({Floats("y", {-least, 1})}, {Floats("y", {least, 1})}, 1e-4);
  EXPECT_EQ(across.differences.values[0].difference->ulps, 2);
  EXPECT_TRUE(across.IsPassed());
}

TEST(CheckOutputs, KnowsWhatIsNotFinite) {
  const float nan = std::nanf("");
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(CheckOutputs({Floats("y", {nan, inf})}, {Floats("y", {nan, inf})}, 0).IsPassed());
  EXPECT_FALSE(CheckOutputs({Floats("y", {nan, 1})}, {Floats("y", {1, 1})}, 1).IsPassed());
  EXPECT_FALSE(CheckOutputs({Floats("y", {inf})}, {Floats("y", {1})}, 1).IsPassed());
  // An infinite element does not allow others anything.
  EXPECT_FALSE(CheckOutputs({Floats("y", {inf, 2})}, {Floats("y", {inf, 1})}, 1e-3).IsPassed());
}

TEST(CheckOutputs, WantsTheSameOutputs) {
  const NamedTensor y = Floats("y", {1});
  const NamedTensor z = Floats("z", {1});
  EXPECT_FALSE(CheckOutputs({}, {}, 1).IsPassed());
  EXPECT_FALSE(CheckOutputs({y}, {y, z}, 1).IsPassed());
  EXPECT_THAT(DescribeFailure(CheckOutputs({y, z}, {y}, 1)), HasSubstr("1 outputs that the model"));
  const OutputCheck type = CheckOutputs({Floats("y", {1, 2})}, {y}, 1);
  EXPECT_THAT(DescribeFailure(type), HasSubstr("\"y\" is f32[2], and by the model f32[1]"));
}

TEST(CheckOutputs, WantsIntegersToBeEqual) {
  const int64_t one[] = {1};
  const int64_t two[] = {2};
  const NamedTensor a = {"label", Tensor::Of<int64_t>({1}, one)};
  const NamedTensor b = {"label", Tensor::Of<int64_t>({1}, two)};
  EXPECT_TRUE(CheckOutputs({a}, {a}, 1e-4).IsPassed());
  EXPECT_FALSE(CheckOutputs({a}, {b}, 1).IsPassed());
}

TEST(ToleranceFor, IsAtLeastTheRoundingOfTheType) {
  EXPECT_EQ(ToleranceFor(Tensor::Zeros(DataType::kFloat32, {2}), 1e-4).absolute, 1e-4);
  EXPECT_EQ(ToleranceFor(Tensor::Zeros(DataType::kBfloat16, {2}), 1e-4).absolute, 0x1p-6);
  EXPECT_EQ(ToleranceFor(Tensor::Zeros(DataType::kFloat16, {2}), 0.1).absolute, 0.1);
}

TEST(DefaultCheckTolerance, GrowsAsBitsGetFewer) {
  EXPECT_LT(DefaultCheckTolerance(Precision::kFloat32), DefaultCheckTolerance(Precision::kFloat16));
  EXPECT_EQ(DefaultCheckTolerance(Precision::kTensorFloat32),
            DefaultCheckTolerance(Precision::kFloat16));
  EXPECT_LT(DefaultCheckTolerance(Precision::kFloat16),
            DefaultCheckTolerance(Precision::kBfloat16));
  EXPECT_LT(DefaultCheckTolerance(Precision::kBfloat16), DefaultCheckTolerance(Precision::kInt8));
}

}  // namespace
}  // namespace slipway
