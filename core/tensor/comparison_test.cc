#include "core/tensor/comparison.h"

#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "core/tensor/float16.h"
#include "core/tensor/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();
const Tolerance kTolerance = {.relative = 1e-3, .absolute = 1e-5};

absl::Status Check(std::initializer_list<float> actual, std::initializer_list<float> expected) {
  const int64_t size = static_cast<int64_t>(actual.size());
  return CheckClose(Tensor::Of<float>({size}, actual), Tensor::Of<float>({size}, expected),
                    kTolerance);
}

TEST(ComparisonTest, UsesBothTolerances) {
  EXPECT_OK(Check({1000.9f, 0.000009f, 1}, {1000, 0, 1}));
  EXPECT_FALSE(Check({1001.1f}, {1000}).ok());
  EXPECT_FALSE(Check({0.000011f}, {0}).ok());
  // The tolerance follows the expected value, as in NumPy.
  EXPECT_FALSE(Check({0}, {0.1f}).ok());
}

TEST(ComparisonTest, TreatsSpecialValuesAsNumPyDoes) {
  EXPECT_OK(Check({NAN, kInf, -kInf, -0.0f}, {NAN, kInf, -kInf, 0.0f}));
  EXPECT_FALSE(Check({NAN}, {1}).ok());
  EXPECT_FALSE(Check({1}, {NAN}).ok());
  EXPECT_FALSE(Check({kInf}, {-kInf}).ok());
  EXPECT_FALSE(Check({1}, {kInf}).ok());
}

TEST(ComparisonTest, NamesTheWorstElement) {
  const Tensor expected = Tensor::Of<float>({2, 2}, {1, 2, 3, 4});
  const Tensor actual = Tensor::Of<float>({2, 2}, {1, 2.5f, 4.25f, 4});
  EXPECT_THAT(CheckClose(actual, expected, kTolerance),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("2 of 4 elements differ"), HasSubstr("at [1, 0]: 4.25"),
                             HasSubstr("expected 3 "))));
}

TEST(ComparisonTest, IntegersAndBoolsMustBeEqual) {
  const Tolerance loose = {.relative = 1, .absolute = 1e9};
  const int64_t big = std::numeric_limits<int64_t>::max();
  EXPECT_OK(CheckClose(Tensor::Scalar(big), Tensor::Scalar(big), loose));
  EXPECT_THAT(CheckClose(Tensor::Scalar(big - 1), Tensor::Scalar(big), loose),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "1 of 1 elements differ, most at []: 9223372036854775806, expected "
                       "9223372036854775807"));
  EXPECT_FALSE(CheckClose(Tensor::Scalar(true), Tensor::Scalar(false), loose).ok());
  EXPECT_THAT(CheckClose(Tensor::Scalar<uint8_t>(255), Tensor::Scalar<uint8_t>(0), loose),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("255")));
}

Tensor Halves(DataType dtype, uint16_t a, uint16_t b) {
  Tensor tensor = Tensor::Zeros(dtype, {2});
  const uint16_t bits[] = {a, b};
  __builtin_memcpy(tensor.mutable_bytes(), bits, sizeof(bits));
  return tensor;
}

TEST(ComparisonTest, ReadsHalfPrecision) {
  const uint16_t one = FloatToFloat16(1.0f);
  EXPECT_OK(CheckClose(Halves(DataType::kFloat16, one, one + 1),
                       Halves(DataType::kFloat16, one, one), kTolerance));
  EXPECT_FALSE(CheckClose(Halves(DataType::kFloat16, one, one + 2),
                          Halves(DataType::kFloat16, one, one), kTolerance)
                   .ok());
  EXPECT_FALSE(CheckClose(Halves(DataType::kBfloat16, 0x3f80, 0x3f81),
                          Halves(DataType::kBfloat16, 0x3f80, 0x3f80), kTolerance)
                   .ok());
}

TEST(ComparisonTest, ReadsSmallElements) {
  const auto tensor = [](DataType dtype, absl::string_view bytes) {
    const auto made = Tensor::FromBytes({dtype, {static_cast<int64_t>(bytes.size())}}, bytes);
    EXPECT_OK(made.status());
    return made.value_or(Tensor());
  };
  const Tolerance loose = {0.1, 0};
  // 1 and 1.125, which are too far apart; NaN of both signs.
  const DataType f8 = DataType::kFloat8E4M3Fn;
  EXPECT_OK(CheckClose(tensor(f8, "\x38\xff"), tensor(f8, "\x38\x7f"), loose));
  EXPECT_THAT(CheckClose(tensor(f8, "\x39"), tensor(f8, "\x38"), loose),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("1.125, expected 1")));
  const DataType i4 = DataType::kInt4;
  EXPECT_THAT(CheckClose(tensor(i4, "\xf8"), tensor(i4, "\x07"), loose),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("-8, expected 7")));
}

TEST(ComparisonTest, StringsMustBeEqual) {
  const Tensor a = Strings({2}, {"a", "b"});
  EXPECT_OK(CheckClose(a, Strings({2}, {"a", "b"}), {}));
  EXPECT_THAT(CheckClose(a, Strings({2}, {"a", "\n"}), {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("1 of 2 strings differ, first at [1]: \"b\", expected \"\\n\"")));
}

TEST(ComparisonTest, RefusesOtherTypes) {
  EXPECT_THAT(
      CheckClose(Tensor::Scalar(1.0f), Tensor::Scalar(1.0), kTolerance),
      StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("f32[]"), HasSubstr("f64[]"))));
  EXPECT_THAT(CheckClose(Tensor(), Tensor(), kTolerance),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ComparisonTest, MeasuresWhatDiffers) {
  const Tensor expected = Tensor::Of<float>({2, 3}, {1, 0, -4, kInf, NAN, 2});
  const Tensor actual = Tensor::Of<float>({2, 3}, {1.5f, 0.25f, -5, kInf, 3, 2});
  ASSERT_OK_AND_ASSIGN(TensorDifference difference,
                       MeasureDifference(actual, expected, {.relative = 0.3, .absolute = 0}));
  EXPECT_EQ(difference.count, 6);
  EXPECT_EQ(difference.differing, 3);
  EXPECT_EQ(difference.not_finite, 1);
  EXPECT_EQ(difference.absolute, 1);
  EXPECT_EQ(difference.relative, 0.5);
  EXPECT_EQ(difference.at, (Shape{1, 1}));
  EXPECT_EQ(difference.actual, "3");
  EXPECT_EQ(difference.expected, "nan");

  ASSERT_OK_AND_ASSIGN(difference, MeasureDifference(expected, expected, {0, 0}));
  EXPECT_EQ(difference.differing, 0);
  EXPECT_EQ(difference.absolute, 0);
  EXPECT_TRUE(difference.actual.empty());

  // What is within the tolerance is measured all the same.
  ASSERT_OK_AND_ASSIGN(
      difference, MeasureDifference(Tensor::Scalar<float>(5), Tensor::Scalar<float>(4), {1, 1}));
  EXPECT_EQ(difference.differing, 0);
  EXPECT_EQ(difference.absolute, 1);
  EXPECT_EQ(difference.relative, 0.25);
}

TEST(ComparisonTest, CoarserTypesMayDifferByMore) {
  for (const DataType dtype : {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat8E4M3Fn}) {
    EXPECT_GT(DefaultTolerance(dtype).relative, DefaultTolerance(DataType::kFloat32).relative);
  }
  EXPECT_LT(DefaultTolerance(DataType::kFloat64).relative,
            DefaultTolerance(DataType::kFloat32).relative);
}

}  // namespace
}  // namespace slipway
