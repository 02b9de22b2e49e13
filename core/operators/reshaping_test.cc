#include "core/operators/reshaping.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/operators/type_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

std::string WithList(const std::string& x, const std::string& op, const std::string& list,
                     const std::string& attributes = "") {
  const size_t count = list.empty() ? 0 : 1 + std::count(list.begin(), list.end(), ',');
  return TypeOf(absl::StrCat("%x: ", x),
                absl::StrCat("const %s: i64[", count, "] = {", list, "} %y = ", op, "(%x, %s) {",
                             attributes, "}"));
}

TEST(ReshapingTypeTest, Reshape) {
  EXPECT_EQ(WithList("f32[2, 3, 4]", "Reshape", "6, 4"), "f32[6, 4]");
  EXPECT_EQ(WithList("f32[2, 3, 4]", "Reshape", "0, -1"), "f32[2, 12]");
  EXPECT_EQ(WithList("i8[0, 3]", "Reshape", "3, 0", "allowzero = 1"), "i8[3, 0]");
  EXPECT_EQ(WithList("f32[1]", "Reshape", ""), "f32[]");
  EXPECT_THAT(WithList("f32[2, 3]", "Reshape", "4, -1"), HasSubstr("cannot give [2, 3]"));
  EXPECT_THAT(WithList("f32[2, 3]", "Reshape", "-1, -1"), HasSubstr("only one -1"));
  EXPECT_THAT(WithList("f32[2, 3]", "Reshape", "-2, 3"), HasSubstr("holds -2"));
  EXPECT_THAT(WithList("f32[2, 3]", "Reshape", "6, 1, 0"), HasSubstr("no such dimension"));
  EXPECT_THAT(WithList("f32[0, 3]", "Reshape", "0, -1"), HasSubstr("cannot give"));
  EXPECT_THAT(WithList("f32[2, 3]", "Reshape", "4611686018427387904, 4611686018427387904"),
              HasSubstr("node \"y\" (Reshape)"));
  EXPECT_EQ(TypeOf("%x: f32[2], %s: i64[1]", "%y = Reshape(%x, %s)"), "f32[?]");
  EXPECT_THAT(TypeOf("%x: f32[2], %s: f32[1]", "%y = Reshape(%x, %s)"),
              HasSubstr("must be a list of i64"));
}

TEST(ReshapingTypeTest, FlattenSqueezeUnsqueeze) {
  EXPECT_EQ(TypeOf("%x: f32[2, 3, 4]", "%y = Flatten(%x) {axis = 2}"), "f32[6, 4]");
  EXPECT_EQ(TypeOf("%x: f32[2, 3, 4]", "%y = Flatten(%x) {axis = 0}"), "f32[1, 24]");
  EXPECT_EQ(TypeOf("%x: f32[2, 3, 4]", "%y = Flatten(%x) {axis = 3}"), "f32[24, 1]");
  EXPECT_EQ(TypeOf("%x: f32[2, 3, 4]", "%y = Flatten(%x) {axis = -1}"), "f32[6, 4]");
  EXPECT_THAT(TypeOf("%x: f32[2, 3, 4]", "%y = Flatten(%x) {axis = 4}"), HasSubstr("outside"));
  EXPECT_EQ(WithList("f32[1, 2, 1]", "Squeeze", "-1"), "f32[1, 2]");
  EXPECT_EQ(TypeOf("%x: f32[1, 2, 1]", "%y = Squeeze(%x)"), "f32[2]");
  EXPECT_THAT(WithList("f32[1, 2, 1]", "Squeeze", "1"), HasSubstr("cannot be squeezed"));
  EXPECT_THAT(WithList("f32[1, 2, 1]", "Squeeze", "0, -3"), HasSubstr("axis 0 is there twice"));
  EXPECT_EQ(WithList("f32[2, 3]", "Unsqueeze", "0, -1"), "f32[1, 2, 3, 1]");
  EXPECT_THAT(WithList("f32[2, 3]", "Unsqueeze", "5"), HasSubstr("axis 5 is outside"));
  EXPECT_THAT(
      WithList("f32[]", "Unsqueeze", "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16"),
      HasSubstr("rank 17"));
}

TEST(ReshapingTypeTest, Shape) {
  EXPECT_EQ(TypeOf("%x: f32[2, 3, 4]", "%y = Shape(%x)"), "i64[3]");
  EXPECT_EQ(TypeOf("%x: f32[2, 3, 4]", "%y = Shape(%x) {start = 1}"), "i64[2]");
  EXPECT_EQ(TypeOf("%x: f32[2, 3, 4]", "%y = Shape(%x) {start = -100, end = -1}"), "i64[2]");
  EXPECT_EQ(TypeOf("%x: f32[2, 3, 4]", "%y = Shape(%x) {start = 2, end = 1}"), "i64[0]");
}

}  // namespace
}  // namespace slipway
