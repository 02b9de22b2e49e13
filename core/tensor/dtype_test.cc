#include "core/tensor/dtype.h"

#include <string>
#include <utility>

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
  for (int64_t number = 1; number <= 28; ++number) {
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

TEST(DataTypeTest, SmallElementsTakeAByte) {
  for (const auto& [name, bits] : {std::pair<const char*, int>("f8e4m3fn", 8),
                                   {"f8e8m0", 8},
                                   {"f6e2m3", 6},
                                   {"f6e3m2", 6},
                                   {"f4e2m1", 4},
                                   {"u4", 4},
                                   {"i4", 4},
                                   {"u2", 2},
                                   {"i2", 2},
                                   {"bool", 1}}) {
    ASSERT_OK_AND_ASSIGN(const DataType dtype, ParseDataType(name));
    EXPECT_EQ(BitSize(dtype), bits) << name;
    EXPECT_EQ(ByteSize(dtype), 1) << name;
  }
}

TEST(DataTypeTest, TellsBytesThatAreNoElements) {
  int64_t bad = -1;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes = {'\0', static_cast<char>(byte)};
    EXPECT_EQ(AreElements(DataType::kUint4, bytes, &bad), byte < 16) << byte;
    EXPECT_EQ(AreElements(DataType::kInt4, bytes, &bad), byte < 8 || byte >= 248) << byte;
    EXPECT_EQ(AreElements(DataType::kInt2, bytes, &bad), byte < 2 || byte >= 254) << byte;
    EXPECT_EQ(AreElements(DataType::kFloat6E2M3, bytes, &bad), byte < 64) << byte;
    EXPECT_EQ(AreElements(DataType::kBool, bytes, &bad), byte < 2) << byte;
    EXPECT_TRUE(AreElements(DataType::kInt8, bytes, &bad)) << byte;
    EXPECT_TRUE(AreElements(DataType::kFloat8E5M2, bytes, &bad)) << byte;
  }
  EXPECT_EQ(bad, 1);
}

TEST(DataTypeTest, RefusesWhatIsUnknown) {
  EXPECT_EQ(Name(DataType::kInvalid), "invalid");
  EXPECT_EQ(Name(static_cast<DataType>(77)), "invalid");
  EXPECT_EQ(ByteSize(static_cast<DataType>(77)), 0);
  const absl::StatusCode bad = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(ParseDataType("float"), StatusIs(bad, HasSubstr("known are f32, u8, i8")));
  EXPECT_THAT(ParseDataType("invalid"), StatusIs(bad));
  EXPECT_THAT(DataTypeFromNumber(0), StatusIs(bad));
  EXPECT_THAT(DataTypeFromNumber(29), StatusIs(bad, HasSubstr("29")));
  EXPECT_THAT(DataTypeFromNumber(-1), StatusIs(bad));
  EXPECT_THAT(DataTypeFromNumber((int64_t{1} << 32) + 1), StatusIs(bad));
}

}  // namespace
}  // namespace slipway
