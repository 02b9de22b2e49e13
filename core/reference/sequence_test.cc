// Sequences and optionals: cases that ONNX's own leave out.
#include "core/operators/sequence.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

constexpr char kThree[] = R"(
    const %a: f32[1] = {1}
    const %b: i64[2] = {2, 3}
    const %c: f32[1] = {4}
    const %0: i64[] = {0}
    const %m1: i32[1] = {-1}
    const %m3: i64[] = {-3}
    const %3: i64[] = {3}
    %s = SequenceConstruct(%a, %b, %c)
)";

std::string After(const std::string& nodes) { return ValuesOf(absl::StrCat(kThree, nodes)); }

TEST(SequenceTest, PositionsCountFromEitherEnd) {
  EXPECT_EQ(After("%y = SequenceAt(%s, %0)"), "f32[1] = {1}");
  EXPECT_EQ(After("%y = SequenceAt(%s, %m1)"), "f32[1] = {4}");
  EXPECT_EQ(After("%y = SequenceAt(%s, %m3)"), "f32[1] = {1}");
  EXPECT_THAT(After("%y = SequenceAt(%s, %3)"),
              HasSubstr("(SequenceAt): the position 3 is outside of a sequence of 3"));
  EXPECT_EQ(After("%e = SequenceErase(%s) %y = SequenceAt(%e, %m1)"), "i64[2] = {2, 3}");
  EXPECT_EQ(After("%e = SequenceErase(%s, %0) %y = SequenceAt(%e, %0)"), "i64[2] = {2, 3}");
  EXPECT_EQ(After("%i = SequenceInsert(%s, %b) %y = SequenceAt(%i, %3)"), "i64[2] = {2, 3}");
  EXPECT_EQ(After("%i = SequenceInsert(%s, %b, %3) %y = SequenceAt(%i, %3)"), "i64[2] = {2, 3}");
  EXPECT_EQ(After("%i = SequenceInsert(%s, %b, %m1) %y = SequenceAt(%i, %3)"), "f32[1] = {4}");
  EXPECT_EQ(After("%i = SequenceInsert(%s, %b, %m3) %y = SequenceAt(%i, %0)"), "i64[2] = {2, 3}");
  EXPECT_THAT(After("%e = SequenceEmpty() %y = SequenceErase(%e)"), HasSubstr("nothing to erase"));
  EXPECT_EQ(After("%e = SequenceErase(%s) %y = SequenceLength(%e)"), "i64[] = {2}");
}

TEST(SequenceTest, SplitsAndJoins) {
  const std::string x = "const %x: i8[2, 3] = {1, 2, 3, 4, 5, 6}\nconst %2: i64[] = {2}\n";
  EXPECT_EQ(ValuesOf(x + R"(const %p: i64[] = {-1} %s = SplitToSequence(%x, %2) {axis = -1}
                            %y = SequenceAt(%s, %p))"),
            "i8[2, 1] = {3, 6}");
  EXPECT_EQ(ValuesOf(x + R"(%s = SplitToSequence(%x) {axis = 1, keepdims = 0}
                            %y = ConcatFromSequence(%s) {axis = -1, new_axis = 1})"),
            "i8[2, 3] = {1, 2, 3, 4, 5, 6}");
  EXPECT_EQ(ValuesOf(x + R"(const %k: i32[2] = {1, 1} %s = SplitToSequence(%x, %k)
                            %y = ConcatFromSequence(%s) {axis = 1})"),
            "i8[1, 6] = {1, 2, 3, 4, 5, 6}");
  EXPECT_THAT(ValuesOf(x + "const %k: i64[2] = {1, 2} %y = SplitToSequence(%x, %k)"),
              HasSubstr("does not fit the extent"));
  EXPECT_THAT(ValuesOf(x + "const %k: i64[] = {0} %y = SplitToSequence(%x, %k)"),
              HasSubstr("must be above 0"));
  EXPECT_THAT(After("%e = SequenceEmpty() %y = ConcatFromSequence(%e) {axis = 0}"),
              HasSubstr("nothing to join"));
}

TEST(SequenceTest, ALoopMayFillOne) {
  EXPECT_EQ(ValuesOf(R"(
    const %m: i64[] = {3}
    const %c: bool[] = {true}
    %e = SequenceEmpty()
    %s = Loop(%m, %c, %e) {
      body = graph "body" (%turn, %true, %v) -> (%true, %w) { %w = SequenceInsert(%v, %turn) }
    }
    %y = ConcatFromSequence(%s) {axis = 0, new_axis = 1})"),
            "i64[3] = {0, 1, 2}");
}

TEST(SequenceTest, OptionalsHoldOneElementOrNone) {
  EXPECT_EQ(After("%o = Optional(%s) %y = SequenceLength(%o)"), "i64[] = {3}");
  EXPECT_EQ(After("%o = Optional(%b) %y = OptionalGetElement(%o)"), "i64[2] = {2, 3}");
  EXPECT_EQ(After("%y = OptionalGetElement(%b)"), "i64[2] = {2, 3}");
  EXPECT_EQ(After("%o = Optional() %y = OptionalHasElement(%o)"), "bool[] = {false}");
  EXPECT_EQ(After("%y = OptionalHasElement(%s)"), "bool[] = {true}");
  EXPECT_THAT(After("%o = Optional() %y = OptionalGetElement(%o)"), HasSubstr("has no element"));
  EXPECT_THAT(After("%o = Optional() %p = Optional(%o) %y = SequenceLength(%p)"),
              HasSubstr("where a sequence is needed"));
}

TEST(SequenceTest, WhatIsNoPackIsRefused) {
  EXPECT_THAT(After("%y = SequenceLength(%b)"), HasSubstr("is no sequence"));
  ASSERT_OK_AND_ASSIGN(const Tensor whole, ToTensor({PackKind::kSequence, {Tensor::Scalar(1.f)}}));
  ASSERT_OK_AND_ASSIGN(const Pack pack, ToPack(whole));
  EXPECT_EQ(pack.elements[0].values<float>()[0], 1);
  const std::string bytes(whole.bytes());
  for (size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_OK_AND_ASSIGN(const Tensor cut,
                         Tensor::FromBytes({DataType::kUint8, {static_cast<int64_t>(size)}},
                                           absl::string_view(bytes).substr(0, size)));
    EXPECT_FALSE(ToPack(cut).ok()) << size;
  }
  // Numbers beyond what there is: kind, count, element type, rank.
  for (const size_t at : {8, 16, 24, 32}) {
    for (const char byte : {'\x7f', '\xff'}) {
      std::string wrong = bytes;
      wrong.replace(at, 8, std::string(8, byte));
      ASSERT_OK_AND_ASSIGN(
          const Tensor tensor,
          Tensor::FromBytes({DataType::kUint8, {static_cast<int64_t>(wrong.size())}}, wrong));
      EXPECT_FALSE(ToPack(tensor).ok()) << at;
    }
  }
}

}  // namespace
}  // namespace slipway
