#include "core/passes/delay_dequantize_pass.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Delayed(const std::string& text) {
  const auto after = PassTester().After(DelayDequantize, text, {0, 0});
  EXPECT_OK(after.status());
  return after.value_or("");
}

// Rows that are turned around twice between the same codes.
constexpr char kTurned[] = R"(
    graph "g" (%x: u8[2, 3, 4]) -> (%y) {
      const %s: f32[] = {0.3}
      const %z: u8[] = {9}
      const %shape: i64[2] = {4, 6}
      %d = DequantizeLinear(%x, %s, %z)
      %t = Transpose(%d) {perm = [2, 0, 1]}
      %r = Reshape(%t, %shape)
      %q = QuantizeLinear(%r, %s, %z)
      %e = DequantizeLinear(%q, %s, %z)
      %y = Relu(%e)
    })";

TEST(DelayDequantize, MovesCodes) {
  const std::string after = Delayed(kTurned);
  EXPECT_THAT(after, HasSubstr("= Transpose(%x) {perm = [2, 0, 1]} : u8[4, 2, 3]"));
  EXPECT_THAT(after, HasSubstr(": u8[4, 6]"));
  EXPECT_THAT(after, Not(HasSubstr("= QuantizeLinear")));
  // Other codes are computed of those that were moved.
  const std::string other =
      Delayed(absl::StrReplaceAll(kTurned, {{"const %z:", "const %v: u8[] = {8}\n const %z:"},
                                            {"(%r, %s, %z)", "(%r, %s, %v)"}}));
  EXPECT_THAT(other, HasSubstr(": u8[4, 6]"));
  EXPECT_THAT(other, HasSubstr("= QuantizeLinear"));
}

TEST(DelayDequantize, MovesSeveral) {
  const std::string split = Delayed(R"(
    graph "g" (%x: i8[2, 6], %w: i8[2, 2]) -> (%a, %b, %c) {
      const %s: f32[] = {0.3}
      %d = DequantizeLinear(%x, %s)
      %e, %f = Split(%d) {axis = 1, num_outputs = 2}
      const %z: i8[] = {0}
      %a = QuantizeLinear(%e, %s, %z)
      %b = QuantizeLinear(%f, %s, %z)
      %v = DequantizeLinear(%w, %s)
      %j = Concat(%d, %v) {axis = 1}
      %c = QuantizeLinear(%j, %s, %z)
    })");
  EXPECT_THAT(split, HasSubstr("Split"));
  EXPECT_THAT(split, HasSubstr("Concat"));
  EXPECT_THAT(split, Not(HasSubstr("Linear")));
}

// What others read as numbers, what lies in other codes, and what is an output.
TEST(DelayDequantize, LeavesTheRest) {
  EXPECT_THAT(Delayed(absl::StrReplaceAll(kTurned, {{"-> (%y)", "-> (%y, %r)"}})),
              Not(HasSubstr(": u8[4, 6] = ")));
  const std::string read = Delayed(absl::StrReplaceAll(
      kTurned, {{"-> (%y)", "-> (%y, %u)"}, {"%y = Relu(%e)", "%y = Relu(%e)\n %u = Abs(%t)"}}));
  EXPECT_THAT(read, HasSubstr("= QuantizeLinear"));
  EXPECT_THAT(Delayed(R"(
    graph "g" (%x: u8[2, 2], %w: u8[2, 2]) -> (%c) {
      const %s: f32[] = {0.3}
      const %t: f32[] = {0.4}
      %d = DequantizeLinear(%x, %s)
      %v = DequantizeLinear(%w, %t)
      %j = Concat(%d, %v) {axis = 1}
      %c = QuantizeLinear(%j, %s)
    })"),
              HasSubstr("= QuantizeLinear"));
}

}  // namespace
}  // namespace slipway
