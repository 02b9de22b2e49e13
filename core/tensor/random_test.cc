#include "core/tensor/random.h"

#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;

TEST(RandomTensor, IsTheSameForTheSameSeedAndName) {
  const TensorType type{DataType::kFloat32, {100}};
  ASSERT_OK_AND_ASSIGN(const Tensor a, RandomTensor(type, 1, "x"));
  ASSERT_OK_AND_ASSIGN(const Tensor b, RandomTensor(type, 1, "x"));
  ASSERT_OK_AND_ASSIGN(const Tensor other_seed, RandomTensor(type, 2, "x"));
  ASSERT_OK_AND_ASSIGN(const Tensor other_name, RandomTensor(type, 1, "y"));
  EXPECT_EQ(a.bytes(), b.bytes());
  EXPECT_NE(a.bytes(), other_seed.bytes());
  EXPECT_NE(a.bytes(), other_name.bytes());
}

TEST(RandomTensor, FloatsAreSpreadOverTheUnitInterval) {
  ASSERT_OK_AND_ASSIGN(const Tensor tensor,
                       RandomTensor(TensorType{DataType::kFloat32, {10000}}, 0, "x"));
  double sum = 0;
  for (const float value : tensor.values<float>()) {
    ASSERT_GE(value, 0.0f);
    ASSERT_LT(value, 1.0f);
    sum += value;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

// Computed with an independent SplitMix64 in Python; pins the values for good.
TEST(RandomTensor, KnownValues) {
  ASSERT_OK_AND_ASSIGN(const Tensor tensor,
                       RandomTensor(TensorType{DataType::kInt64, {8}}, 7, "input"));
  EXPECT_THAT(tensor.values<int64_t>(), ::testing::ElementsAre(2, 0, 2, 7, 7, 1, 6, 3));
}

TEST(RandomTensor, EveryTypeWorksOrIsNamed) {
  for (int number = 1; number <= 16; ++number) {
    const auto dtype = static_cast<DataType>(number);
    const auto tensor = RandomTensor(TensorType{dtype, {3}}, 0, "x");
    if (dtype == DataType::kString || dtype == DataType::kComplex64 ||
        dtype == DataType::kComplex128) {
      EXPECT_THAT(tensor, StatusIs(absl::StatusCode::kUnimplemented)) << number;
    } else {
      EXPECT_OK(tensor) << number;
    }
  }
}

}  // namespace
}  // namespace slipway
