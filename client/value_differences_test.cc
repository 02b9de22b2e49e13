#include "client/value_differences.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

NamedTensor F32(std::string name, const std::vector<float>& values) {
  return {std::move(name),
          Tensor::Of<float>({static_cast<int64_t>(values.size())}, absl::MakeConstSpan(values))};
}

TEST(ValueDifferences, SayWhichIsFirstInTheOrderOfTheActualOnes) {
  const std::vector<NamedTensor> actual = {F32("a", {1}), F32("b", {2, 3}), F32("c", {NAN})};
  const std::vector<NamedTensor> expected = {F32("c", {1}), F32("a", {1}), F32("b", {2, 4})};
  const ValueDifferences differences = CompareValues(actual, expected);
  ASSERT_EQ(differences.values.size(), 3u);
  EXPECT_EQ(differences.differing, 2);
  EXPECT_EQ(differences.first, 1u);
  EXPECT_TRUE(differences.values[0].IsClose());
  EXPECT_EQ(differences.values[1].name, "b");
  EXPECT_EQ(differences.values[1].difference->at, (Shape{1}));
  EXPECT_EQ(differences.values[1].difference->absolute, 1);
  EXPECT_EQ(differences.values[2].difference->not_finite, 1);
  EXPECT_EQ(CompareValues(actual, actual).first, std::nullopt);
}

TEST(ValueDifferences, CountWhatOneSideAloneHas) {
  const ValueDifferences differences = CompareValues({F32("a", {1}), F32("x", {1}), F32("x", {2})},
                                                     {F32("y", {1}), F32("z", {5}), F32("a", {1})});
  EXPECT_EQ(differences.values.size(), 1u);
  EXPECT_EQ(differences.only_actual, 2);
  EXPECT_EQ(differences.only_expected, 2);
  EXPECT_EQ(differences.first, std::nullopt);
}

TEST(ValueDifferences, MatchTheTurnsOfALoopInTheirOrder) {
  const ValueDifferences differences =
      CompareValues({F32("a", {1}), F32("a", {2}), F32("a", {3})}, {F32("a", {1}), F32("a", {3})});
  ASSERT_EQ(differences.values.size(), 2u);
  EXPECT_EQ(differences.first, 1u);
  EXPECT_EQ(differences.only_actual, 1);
}

TEST(ValueDifferences, OtherTypesDiffer) {
  const ValueDifferences differences =
      CompareValues({{"a", Tensor::Scalar<int32_t>(1)}, F32("b", {1}), {"c", Tensor()}},
                    {F32("a", {1}), F32("b", {1, 2}), F32("c", {1})});
  EXPECT_EQ(differences.differing, 3);
  EXPECT_FALSE(differences.values[1].difference.has_value());
  EXPECT_EQ(differences.values[1].expected.shape, (Shape{2}));
}

TEST(ValueDifferences, AToleranceIsForAllTypes) {
  const std::vector<NamedTensor> actual = {{"half", Tensor::Zeros(DataType::kFloat16, {1})},
                                           F32("single", {1.005f})};
  const std::vector<NamedTensor> expected = {{"half", Tensor::Zeros(DataType::kFloat16, {1})},
                                             F32("single", {1})};
  ValueDifferences differences = CompareValues(actual, expected);
  EXPECT_EQ(differences.differing, 1);
  EXPECT_EQ(differences.values[0].tolerance.relative, 1e-2);
  differences = CompareValues(actual, expected, Tolerance{.relative = 0.01, .absolute = 0});
  EXPECT_EQ(differences.differing, 0);
  EXPECT_EQ(differences.values[0].tolerance.absolute, 0);
}

}  // namespace
}  // namespace slipway
