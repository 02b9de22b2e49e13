#include "core/tensor/dtype.h"

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

TEST(DataTypeTest, EveryNumberHasANameThatLeadsBack) {
  for (int64_t number = 1; number <= 16; ++number) {
    ASSERT_OK_AND_ASSIGN(const DataType dtype, DataTypeFromNumber(number));
    EXPECT_EQ(static_cast<int64_t>(dtype), number);
    EXPECT_THAT(ParseDataType(Name(dtype)), IsOkAndHolds(dtype));
  }
}

TEST(DataTypeTest, KnowsSizes) {
  EXPECT_EQ(ByteSize(DataType::kBool), 1);
  EXPECT_EQ(ByteSize(DataType::kFloat16), 2);
  EXPECT_EQ(ByteSize(DataType::kBfloat16), 2);
  EXPECT_EQ(ByteSize(DataType::kFloat32), 4);
  EXPECT_EQ(ByteSize(DataType::kInt64), 8);
  EXPECT_EQ(ByteSize(DataType::kComplex128), 16);
  EXPECT_EQ(ByteSize(DataType::kString), 0);
  EXPECT_EQ(ByteSize(DataType::kInvalid), 0);
}

TEST(DataTypeTest, RefusesWhatIsUnknown) {
  EXPECT_EQ(Name(DataType::kInvalid), "invalid");
  EXPECT_EQ(Name(static_cast<DataType>(77)), "invalid");
  EXPECT_EQ(ByteSize(static_cast<DataType>(77)), 0);
  const absl::StatusCode bad = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(ParseDataType("float"), StatusIs(bad, HasSubstr("known are f32, u8, i8")));
  EXPECT_THAT(ParseDataType("invalid"), StatusIs(bad));
  EXPECT_THAT(DataTypeFromNumber(0), StatusIs(bad));
  EXPECT_THAT(DataTypeFromNumber(17), StatusIs(bad, HasSubstr("17")));
  EXPECT_THAT(DataTypeFromNumber(-1), StatusIs(bad));
  EXPECT_THAT(DataTypeFromNumber((int64_t{1} << 32) + 1), StatusIs(bad));
}

}  // namespace
}  // namespace slipway
