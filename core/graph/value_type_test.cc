#include "core/graph/value_type.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

const Dimension kBatch = *Expression::Symbol("batch");

TEST(ValueTypeTest, IsATensorTypeWhereEveryExtentIsKnown) {
  const ValueType type = TensorType{DataType::kFloat32, {2, 3}};
  EXPECT_TRUE(type.is_static());
  EXPECT_EQ(type, ValueType(DataType::kFloat32, {2, 3}));
  EXPECT_EQ(type.byte_size(), 24);
  EXPECT_EQ(type.dimension(1), Dimension(3));
  EXPECT_EQ(ToString(type), "f32[2, 3]");
  EXPECT_EQ(ToString(ValueType(DataType::kInt64, {})), "i64[]");

  const ValueType open(DataType::kFloat32, {kBatch, 3, Dimension()});
  EXPECT_FALSE(open.is_static());
  EXPECT_EQ(open.rank(), 3);
  EXPECT_EQ(open.dimension(0), kBatch);
  EXPECT_EQ(ToString(open), "f32[batch, 3, ?]");
  EXPECT_DEATH(open.tensor(), "f32\\[batch, 3, \\?\\]");
}

TEST(ValueTypeTest, SameAndContradicting) {
  const ValueType a(DataType::kFloat32, {kBatch, 3});
  const ValueType b(DataType::kFloat32, {2, 3});
  const ValueType c(DataType::kFloat32, {Dimension(), 3});
  EXPECT_TRUE(SameTensors(a, a));
  EXPECT_FALSE(SameTensors(a, b));
  EXPECT_FALSE(SameTensors(c, c));
  EXPECT_TRUE(c == c);
  EXPECT_FALSE(Contradict(a, b));
  EXPECT_FALSE(Contradict(b, c));
  EXPECT_TRUE(Contradict(b, ValueType(DataType::kFloat32, {2, 4})));
  EXPECT_TRUE(Contradict(b, ValueType(DataType::kFloat32, {2, 3, 1})));
  EXPECT_TRUE(Contradict(b, ValueType(DataType::kInt32, {2, 3})));
}

TEST(ValueTypeTest, ExtentsAreChecked) {
  EXPECT_OK(CheckType(ValueType(DataType::kFloat32, {kBatch, 3})));
  EXPECT_THAT(CheckType(ValueType(DataType::kFloat32, {kBatch, -3})).message(),
              HasSubstr("known extents of f32[batch, -3]"));
  EXPECT_EQ(CheckType(ValueType(DataType::kFloat32, Dimensions(17, kBatch))).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_OK(CheckType(ValueType(DataType::kFloat32, {kBatch}), {{"batch", 1, 8}}));
  EXPECT_THAT(CheckType(ValueType(DataType::kFloat32, {1, kBatch}), {{"b", 1, 8}}).message(),
              HasSubstr("dimension 1 of f32[1, batch]: there is no symbol \"batch\""));
}

std::string QuantizationError(ValueType type, Quantization quantization) {
  type.set_quantization(std::move(quantization));
  const absl::Status status = CheckType(type);
  EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status)) << status;
  return std::string(status.message());
}

TEST(ValueTypeTest, QuantizationsAreChecked) {
  const ValueType bytes(DataType::kUint8, {kBatch, 2});
  EXPECT_EQ(QuantizationError(bytes, {{0.5f}, {128}, {}}), "");
  EXPECT_EQ(QuantizationError(bytes, {{0.5f, 0.25f}, {0, 255}, 1}), "");
  // As many as the extent turns out to be.
  EXPECT_EQ(QuantizationError(bytes, {{0.5f, 0.25f, 1}, {0, 255, 1}, 0}), "");
  EXPECT_EQ(QuantizationError(ValueType(DataType::kInt32, {}), {{1e-6f}, {0}, {}}), "");

  EXPECT_THAT(QuantizationError(bytes, {{0.5f}, {0}, 2}), HasSubstr("axis 2 is outside [0, 2)"));
  EXPECT_THAT(QuantizationError(bytes, {{0.5f}, {0}, -1}), HasSubstr("axis -1 is outside"));
  EXPECT_THAT(QuantizationError(bytes, {{0.5f, 1, 2}, {0, 0, 0}, 1}),
              HasSubstr("3 scales along axis 1 of extent 2"));
  EXPECT_THAT(QuantizationError(bytes, {{0.5f, 1}, {0, 0}, {}}),
              HasSubstr("2 scales without an axis"));
  EXPECT_THAT(QuantizationError(bytes, {{}, {}, {}}), HasSubstr("0 scales without an axis"));
  EXPECT_THAT(QuantizationError(bytes, {{0.5f}, {0, 1}, {}}),
              HasSubstr("1 scales and 2 zero points"));
  for (const float scale : {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity()}) {
    EXPECT_THAT(QuantizationError(bytes, {{scale}, {0}, {}}),
                HasSubstr("is not a finite number greater than 0"));
  }
  EXPECT_THAT(QuantizationError(bytes, {{1}, {256}, {}}),
              HasSubstr("zero point 256 is no value of u8"));
  EXPECT_THAT(QuantizationError(bytes, {{1}, {-1}, {}}), HasSubstr("zero point -1"));
  EXPECT_THAT(QuantizationError(ValueType(DataType::kFloat32, {1}), {{1}, {0}, {}}),
              HasSubstr("f32 is not an integer of 2 to 32 bits"));
}

}  // namespace
}  // namespace slipway
