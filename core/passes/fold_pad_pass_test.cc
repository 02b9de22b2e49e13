#include "core/passes/fold_pad_pass.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;

TEST(FoldPad, IsThePaddingOfTheConv) {
  const PassTester tester;
  EXPECT_OK(tester.Check(FoldPad, R"(
    graph "g" (%x: f32[1, 2, 4, 4], %w: f32[2, 1, 3, 3]) -> (%y) {
      const %pads: i64[8] = {0, 0, 0, 1, 0, 0, 1, 2}
      %p = Pad "p" (%x, %pads)
      %y = Conv "c" (%p, %w) {group = 2, strides = [2, 2], pads = [1, 0, 0, 3]}
    })",
                         R"(
    graph "g" (%x: f32[1, 2, 4, 4], %w: f32[2, 1, 3, 3]) -> (%y) {
      const %pads: i64[8] = {0, 0, 0, 1, 0, 0, 1, 2}
      %p = Pad "p" (%x, %pads)
      %y = Conv "c" (%x, %w) {group = 2, strides = [2, 2], pads = [1, 1, 1, 5]}
    })"));
}

TEST(FoldPad, TakesPadsOfSomeAxesAndAnyRank) {
  const PassTester tester;
  EXPECT_OK(tester.Check(FoldPad, R"(
    graph "g" (%x: f32[3, 2, 7], %w: f32[2, 2, 3]) -> (%y) {
      const %pads: i64[2] = {2, 1}
      const %zero: f32[] = {-0.0}
      const %axes: i64[1] = {-1}
      %p = Pad "p" (%x, %pads, %zero, %axes)
      %y = Conv "c" (%p, %w) {auto_pad = "VALID"}
    })",
                         R"(
    graph "g" (%x: f32[3, 2, 7], %w: f32[2, 2, 3]) -> (%y) {
      const %pads: i64[2] = {2, 1}
      const %zero: f32[] = {-0.0}
      const %axes: i64[1] = {-1}
      %p = Pad "p" (%x, %pads, %zero, %axes)
      %y = Conv "c" (%x, %w) {pads = [2, 1]}
    })"));
}

TEST(FoldPad, LeavesWhatIsNoPadding) {
  const PassTester tester;
  struct Case {
    const char* pads;
    const char* inputs;
    const char* pad_attributes;
    const char* conv_attributes;
  };
  for (const Case& c : {
           Case{"{0, 0, 1, 1, 0, 0, 1, 1}", "(%x, %pads, %one)", "", ""},
           Case{"{0, 0, 1, 1, 0, 0, 1, 1}", "(%x, %pads)", "{mode = \"reflect\"}", ""},
           Case{"{0, 0, 1, 1, 0, 0, 1, 1}", "(%x, %pads)", "", "{auto_pad = \"SAME_UPPER\"}"},
           Case{"{0, 0, -1, 1, 0, 0, 1, 1}", "(%x, %pads)", "", ""},
           Case{"{1, 0, 1, 1, 0, 0, 1, 1}", "(%x, %pads)", "", ""},
       }) {
    const std::string text = absl::StrCat(
        "graph \"g\" (%x: f32[1, 2, 6, 6], %w: f32[2, 2, 3, 3]) -> (%y) {\n  const %pads: i64[8] "
        "= ",
        c.pads, "\n  const %one: f32[] = {1.0}\n  %p = Pad \"p\" ", c.inputs, " ", c.pad_attributes,
        "\n  %y = Conv \"c\" (%p, %w) ", c.conv_attributes, "\n}");
    EXPECT_OK(tester.Check(FoldPad, text, text));
  }
}

}  // namespace
}  // namespace slipway
