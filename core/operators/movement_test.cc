#include "core/operators/movement.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/operators/type_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

TEST(MovementTypeTest, TransposeConcatGather) {
  EXPECT_EQ(TypeOf("%x: f32[2, 3, 4]", "%y = Transpose(%x)"), "f32[4, 3, 2]");
  EXPECT_EQ(TypeOf("%x: f32[2, 3, 4]", "%y = Transpose(%x) {perm = [1, 0, 2]}"), "f32[3, 2, 4]");
  EXPECT_THAT(TypeOf("%x: f32[2, 3]", "%y = Transpose(%x) {perm = [0, 0]}"),
              HasSubstr("no permutation"));
  EXPECT_EQ(TypeOf("%a: f32[2, 3], %b: f32[2, 1]", "%y = Concat(%a, %b, %a) {axis = -1}"),
            "f32[2, 7]");
  EXPECT_THAT(TypeOf("%a: f32[2, 3], %b: f32[3, 1]", "%y = Concat(%a, %b) {axis = 1}"),
              HasSubstr("input 1 of shape [3, 1] does not join [2, 3]"));
  EXPECT_THAT(TypeOf("%a: f32[], %b: f32[]", "%y = Concat(%a, %b) {axis = 0}"),
              HasSubstr("rank at least 1"));
  EXPECT_THAT(TypeOf("%a: f32[2000000000]", "%y = Concat(%a, %a) {axis = 0}"),
              HasSubstr("UNIMPLEMENTED: node \"y\" (Concat)"));
  EXPECT_EQ(TypeOf("%x: f32[5, 6, 7], %i: i64[2, 3]", "%y = Gather(%x, %i) {axis = 1}"),
            "f32[5, 2, 3, 7]");
  EXPECT_EQ(TypeOf("%x: i64[4], %i: i64[]", "%y = Gather(%x, %i)"), "i64[]");
  EXPECT_THAT(TypeOf("%x: f32[5], %i: f32[2]", "%y = Gather(%x, %i)"), HasSubstr("not i32 or i64"));
}

std::string Slice(const std::string& starts, const std::string& ends, const std::string& axes,
                  const std::string& steps) {
  return TypeOf("%x: f32[20, 10, 5]",
                absl::StrCat("const %s: i64[1] = {", starts, "} const %e: i64[1] = {", ends,
                             "} const %a: i64[1] = {", axes, "} const %t: i64[1] = {", steps,
                             "} %y = Slice(%x, %s, %e, %a, %t)"));
}

TEST(MovementTypeTest, SliceIsPythons) {
  EXPECT_EQ(Slice("0", "3", "0", "1"), "f32[3, 10, 5]");
  EXPECT_EQ(Slice("1", "1000", "1", "1"), "f32[20, 9, 5]");
  EXPECT_EQ(Slice("0", "-1", "1", "1"), "f32[20, 9, 5]");
  EXPECT_EQ(Slice("-3", "9223372036854775807", "-1", "2"), "f32[20, 10, 2]");
  EXPECT_EQ(Slice("20", "0", "0", "-4"), "f32[5, 10, 5]");
  EXPECT_EQ(Slice("-99", "-9223372036854775807", "1", "-1"), "f32[20, 1, 5]");
  EXPECT_EQ(Slice("9", "-9223372036854775807", "1", "-1"), "f32[20, 10, 5]");
  EXPECT_EQ(Slice("100", "200", "0", "1"), "f32[0, 10, 5]");
  EXPECT_EQ(Slice("3", "1", "0", "1"), "f32[0, 10, 5]");
  EXPECT_EQ(Slice("-9223372036854775808", "2", "0", "1"), "f32[2, 10, 5]");
  EXPECT_THAT(Slice("0", "1", "0", "0"), HasSubstr("a step of 0"));
  EXPECT_THAT(Slice("0", "1", "3", "1"), HasSubstr("axis 3 is outside"));
  EXPECT_EQ(TypeOf("%x: f32[2], %s: i64[1], %e: i64[1]", "%y = Slice(%x, %s, %e)"), "f32[?]");
}

TEST(MovementTypeTest, SplitExpandPad) {
  EXPECT_EQ(TypeOf("%x: f32[6, 2]", "%a, %b, %c = Split(%x) {num_outputs = 3}"),
            "f32[2, 2]; f32[2, 2]; f32[2, 2]");
  EXPECT_EQ(TypeOf("%x: f32[5]", "%a, %b = Split(%x) {num_outputs = 2}"), "f32[3]; f32[2]");
  EXPECT_THAT(TypeOf("%x: f32[1]", "%a, %b, %c = Split(%x) {num_outputs = 3}"),
              HasSubstr("cannot split 1 into 3"));
  EXPECT_THAT(TypeOf("%x: f32[4]", "%a, %b = Split(%x) {num_outputs = 4}"),
              HasSubstr("\"num_outputs\" is 4 where 2 outputs are listed"));
  EXPECT_THAT(TypeOf("%x: f32[4]", "%a, %b = Split(%x)"), HasSubstr("must be given"));
  EXPECT_EQ(TypeOf("%x: f32[2, 6]", "const %s: i64[2] = {2, 4} %a, %b = Split(%x, %s) {axis = 1}"),
            "f32[2, 2]; f32[2, 4]");
  EXPECT_THAT(TypeOf("%x: f32[5]",
                     "const %s: i64[2] = {9223372036854775807, 9223372036854775807}"
                     " %a, %b = Split(%x, %s)"),
              HasSubstr("do not split 5"));
  EXPECT_EQ(TypeOf("%x: f32[3, 1]", "const %s: i64[3] = {2, 1, 6} %y = Expand(%x, %s)"),
            "f32[2, 3, 6]");
  EXPECT_THAT(TypeOf("%x: f32[3]", "const %s: i64[1] = {2} %y = Expand(%x, %s)"),
              HasSubstr("(Expand)"));
  EXPECT_EQ(TypeOf("%x: f32[3, 4]", "const %p: i64[4] = {1, 0, 2, -1} %y = Pad(%x, %p)"),
            "f32[6, 3]");
  EXPECT_THAT(TypeOf("%x: f32[3]", "const %p: i64[2] = {-2, -2} %y = Pad(%x, %p)"),
              HasSubstr("do not fit dimension 0 of 3"));
  EXPECT_THAT(
      TypeOf("%x: f32[3]", "const %p: i64[2] = {3, 0} %y = Pad(%x, %p) {mode = \"reflect\"}"),
      HasSubstr("do not fit"));
  EXPECT_EQ(TypeOf("%x: f32[3, 4, 5]",
                   "const %p: i64[4] = {1, 2, 3, 4} const %a: i64[2] = {-1, 0}"
                   " %y = Pad(%x, %p, _, %a) {mode = \"wrap\"}"),
            "f32[9, 4, 9]");
  EXPECT_THAT(TypeOf("%x: f32[3, 4]",
                     "const %p: i64[4] = {1, 2, 3, 4} const %a: i64[1] = {1}"
                     " %y = Pad(%x, %p, _, %a)"),
              HasSubstr("there are 4 pads, 2 are needed"));
  EXPECT_THAT(TypeOf("%x: f32[3, 4]",
                     "const %p: i64[2] = {1, 2} const %a: i64[1] = {2} %y = Pad(%x, %p, _, %a)"),
              HasSubstr("outside"));
  EXPECT_THAT(TypeOf("%x: f32[0]", "const %p: i64[2] = {1, 0} %y = Pad(%x, %p) {mode = \"wrap\"}"),
              HasSubstr("do not fit"));
  EXPECT_THAT(TypeOf("%x: f32[3]", "const %p: i64[2] = {9223372036854775807, 1} %y = Pad(%x, %p)"),
              HasSubstr("do not fit"));
}

TEST(MovementTypeTest, BlocksMove) {
  EXPECT_EQ(TypeOf("%x: f32[1, 27, 4, 5]", "%y = DepthToSpace(%x) {blocksize = 3}"),
            "f32[1, 3, 12, 15]");
  EXPECT_EQ(TypeOf("%x: f32[1, 3, 12, 15]", "%y = SpaceToDepth(%x) {blocksize = 3}"),
            "f32[1, 27, 4, 5]");
  EXPECT_THAT(TypeOf("%x: f32[1, 10, 4, 5]", "%y = DepthToSpace(%x) {blocksize = 3}"),
              HasSubstr("do not fit the shape"));
  EXPECT_THAT(
      TypeOf("%x: f32[1, 27, 4, 5]", "%y = DepthToSpace(%x) {blocksize = 3, mode = \"RCD\"}"),
      HasSubstr("not DCR or CRD"));
}

}  // namespace
}  // namespace slipway
