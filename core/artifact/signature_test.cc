#include "core/artifact/signature.h"

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

PortType Symbolic() { return {DataType::kFloat32, {{1, 32, "batch"}, {3, 3, "3"}}}; }

TEST(PortType, SaysWhatItIs) {
  EXPECT_EQ(ToString(Symbolic()), "f32[batch, 3]");
  EXPECT_EQ(ToString(PortType::Of({DataType::kInt64, {2, 0}})), "i64[2, 0]");
  EXPECT_EQ(ToString(PortType::Of({DataType::kBool, {}})), "bool[]");
  EXPECT_EQ(ToString(PortType{DataType::kBool, {{0, 1, "a\n"}}}), "bool[a\\n]");
}

TEST(PortType, AdmitsTensorsWithinItsBounds) {
  EXPECT_TRUE(Symbolic().Admits({DataType::kFloat32, {1, 3}}));
  EXPECT_TRUE(Symbolic().Admits({DataType::kFloat32, {32, 3}}));
  EXPECT_FALSE(Symbolic().Admits({DataType::kFloat32, {0, 3}}));
  EXPECT_FALSE(Symbolic().Admits({DataType::kFloat32, {33, 3}}));
  EXPECT_FALSE(Symbolic().Admits({DataType::kFloat32, {1, 4}}));
  EXPECT_FALSE(Symbolic().Admits({DataType::kFloat32, {1, 3, 1}}));
  EXPECT_FALSE(Symbolic().Admits({DataType::kFloat32, {1}}));
  EXPECT_FALSE(Symbolic().Admits({DataType::kFloat64, {1, 3}}));
}

TEST(PortType, HasASmallestType) {
  const TensorType type{DataType::kFloat32, {2, 3}};
  EXPECT_EQ(PortType::Of(type).Smallest(), type);
  const PortType symbolic = Symbolic();
  EXPECT_EQ(symbolic.Smallest(), (TensorType{DataType::kFloat32, {symbolic.extents[0].min, 3}}));
}

}  // namespace
}  // namespace slipway
