#include "core/passes/causal_mask.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace slipway {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

std::optional<CausalMask> OfNumbers(const Shape& shape, const std::vector<float>& numbers) {
  return FindCausalMask(Tensor::Of<float>(shape, numbers));
}

std::optional<CausalMask> OfConditions(const Shape& shape, const std::string& bytes, bool shows,
                                       float filling) {
  Tensor conditions = Tensor::Zeros(DataType::kBool, shape);
  for (size_t i = 0; i < bytes.size(); ++i) conditions.mutable_bytes()[i] = bytes[i] - '0';
  return FindCausalMask(conditions, shows, filling);
}

TEST(CausalMask, SaysHowManyKeysComeBefore) {
  const auto square = OfNumbers({1, 1, 3, 3}, {0, -kInf, -kInf, 0, 0, -kInf, 0, 0, 0});
  ASSERT_TRUE(square.has_value());
  EXPECT_EQ(square->past_keys, 0);
  EXPECT_TRUE(square->is_all);
  EXPECT_TRUE(square->is_infinite);
  const auto behind_others = OfNumbers({2, 4}, {0, 0, 0, -3e38F, 0, 0, 0, 0});
  ASSERT_TRUE(behind_others.has_value());
  EXPECT_EQ(behind_others->past_keys, 2);
  EXPECT_TRUE(behind_others->is_all);
  EXPECT_FALSE(behind_others->is_infinite);
  const auto itself_not = OfConditions({3, 3}, "000100110", true, -kInf);
  ASSERT_TRUE(itself_not.has_value());
  EXPECT_EQ(itself_not->past_keys, -1);
  EXPECT_TRUE(itself_not->is_all);
  EXPECT_EQ(OfConditions({2, 2}, "0100", false, -1e30F)->past_keys, 0);
  EXPECT_EQ(OfConditions({4, 2}, "00000010", true, -kInf)->past_keys, -3);
  EXPECT_EQ(OfConditions({2, 2}, "0000", true, -kInf)->past_keys, -2);
  // As exporters of f16 hide.
  EXPECT_EQ(OfNumbers({2, 2}, {0, -1e4F, 0, 0})->past_keys, 0);
  EXPECT_EQ(OfConditions({2, 2}, "1011", true, -65504)->past_keys, 0);
}

TEST(CausalMask, MaySayMore) {
  // A number for each distance; a window; a batch whose keys end earlier.
  EXPECT_FALSE(OfNumbers({2, 2}, {1, -kInf, 2, 1})->is_all);
  const auto window = OfConditions({3, 3}, "100110011", true, -1e9F);
  EXPECT_EQ(window->past_keys, 0);
  EXPECT_FALSE(window->is_all);
  const auto batches = OfNumbers({2, 2, 2}, {0, -kInf, 0, 0, 0, -kInf, 0, -kInf});
  EXPECT_EQ(batches->past_keys, 0);
  EXPECT_FALSE(batches->is_all);
}

TEST(CausalMask, IsNoneWhereNothingIsHiddenByItsPlace) {
  EXPECT_FALSE(OfNumbers({2, 2}, {0, 0, 0, 0}).has_value());
  EXPECT_FALSE(OfNumbers({2, 2}, {0, 0, 0, -kInf}).has_value());
  EXPECT_FALSE(OfNumbers({2}, {0, -kInf}).has_value());
  EXPECT_FALSE(OfNumbers({0, 2}, {}).has_value());
  // Neither so low that its probability is 0, nor a number.
  EXPECT_FALSE(OfNumbers({2, 2}, {0, -9e3F, 0, 0}).has_value());
  EXPECT_FALSE(OfNumbers({2, 2}, {0, std::nanf(""), 0, 0}).has_value());
  EXPECT_FALSE(OfConditions({2, 2}, "1011", true, 0).has_value());
}

// Numbers that are all as low leave scores as they were, relative to each other; minus infinity leaves nothing.
TEST(CausalMask, HidesAllOfARowByInfinityAlone) {
  EXPECT_FALSE(OfConditions({2, 2}, "0010", true, -1e30F).has_value());
  EXPECT_FALSE(OfNumbers({2, 2}, {-1e30F, -1e30F, 0, 0}).has_value());
  EXPECT_FALSE(OfNumbers({2, 2}, {-1e4F, -1e4F, 0, 0}).has_value());
  EXPECT_EQ(OfConditions({2, 2}, "0010", true, -kInf)->past_keys, -1);
  // The first row has a key that is just low, and no other.
  EXPECT_FALSE(OfNumbers({2, 2}, {-kInf, -1e30F, 0, 0}).has_value());
}

}  // namespace
}  // namespace slipway
