#include "core/passes/computed_constant.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/passes/limits.h"

namespace slipway {
namespace {

Tensor Doubled(const Tensor& from, int& made) {
  return ComputedConstant(from, from.type(), [&made](const Tensor& plain, Tensor& doubled) {
    ++made;
    for (int64_t i = 0; i < plain.num_elements(); ++i) {
      doubled.mutable_values<float>()[i] = 2 * plain.values<float>()[i];
    }
  });
}

Tensor Counting(int64_t count) {
  Tensor tensor = Tensor::Zeros(DataType::kFloat32, {count});
  std::iota(tensor.mutable_values<float>().begin(), tensor.mutable_values<float>().end(), 0.0f);
  return tensor;
}

TEST(ComputedConstant, IsComputedAtOnceWhereItIsSmall) {
  int made = 0;
  const Tensor doubled = Doubled(Counting(kLargeConstantBytes / 4 - 1), made);
  EXPECT_EQ(made, 1);
  EXPECT_FALSE(doubled.is_deferred());
  EXPECT_EQ(doubled.values<float>()[3], 6);
}

TEST(ComputedConstant, IsComputedWhenAskedForWhereItIsLarge) {
  int made = 0;
  const Tensor quadrupled = Doubled(Doubled(Counting(kLargeConstantBytes / 4), made), made);
  EXPECT_EQ(made, 0);
  EXPECT_EQ(quadrupled.Loaded().values<float>()[3], 12);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(quadrupled.Loaded().values<float>()[4], 16);  // Nothing was kept.
  EXPECT_EQ(made, 4);
}

}  // namespace
}  // namespace slipway
