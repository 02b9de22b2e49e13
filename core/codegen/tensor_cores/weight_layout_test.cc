#include "core/codegen/tensor_cores/weight_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/tensor/float16.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;

std::vector<float> NumbersOf(const Tensor& tensor) {
  std::vector<float> numbers;
  for (size_t i = 0; i < tensor.bytes().size(); i += 2) {
    uint16_t half = 0;
    memcpy(&half, tensor.bytes().data() + i, sizeof(half));
    numbers.push_back(tensor.dtype() == DataType::kFloat16 ? Float16ToFloat(half)
                                                           : Bfloat16ToFloat(half));
  }
  return numbers;
}

const std::vector<float> kNumbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

TEST(WeightLayout, TurnsEachMatrix) {
  const Tensor weights = Tensor::Of<float>({2, 2, 3}, absl::MakeConstSpan(kNumbers));
  const Tensor turned = LaidOutWeights(weights, {2, 2, 3, DataType::kFloat32}, {2, 3, 2});
  EXPECT_THAT(turned.values<float>(), ElementsAre(0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11));
  EXPECT_EQ(turned.shape(), Shape({2, 3, 2}));
}

TEST(WeightLayout, RoundsToTheNearest) {
  const Tensor weights = Tensor::Of<float>({1, 4}, {1.0F + 0x1.8p-11F, 70000, -0.1F, 1e-9F});
  EXPECT_THAT(NumbersOf(LaidOutWeights(weights, {1, 1, 4, DataType::kFloat16}, {1, 4})),
              ElementsAre(1.0F + 0x1p-10F, INFINITY, -0.099975586F, 0));
  EXPECT_THAT(NumbersOf(LaidOutWeights(weights, {1, 1, 4, DataType::kBfloat16}, {4}))[1], 70144);
}

TEST(WeightLayoutDeathTest, WantsAsManyElements) {
  const Tensor weights = Tensor::Of<float>({2, 6}, absl::MakeConstSpan(kNumbers));
  EXPECT_DEATH(LaidOutWeights(weights, {1, 2, 5, DataType::kFloat32}, {5, 2}), "another layout");
}

}  // namespace
}  // namespace slipway
