#include "core/passes/infer_type_pass.h"

#include <gtest/gtest.h>

#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(InferType, ComputesShapesOnTheWay) {
  const PassTester tester;
  EXPECT_OK(tester.Check(InferType, R"(
    graph "g" (%x: f32[2, 3, 4]) -> (%y) {
      const %zero: i64[1] = {0}
      const %open: i64[1] = {-1}
      %shape = Shape(%x)
      %first = Gather(%shape, %zero) {axis = 0}
      %target = Concat(%first, %open) {axis = 0}
      %y = Reshape(%x, %target)
    })",
                         R"(
    graph "g" (%x: f32[2, 3, 4]) -> (%y) {
      const %target: i64[2] = {2, -1}
      %y = Reshape(%x, %target)
    })"));
}

// What nodes need of extents that are not known is said, once each; what is the same anyway is not.
TEST(InferType, SaysWhatMustHoldBetweenExtents) {
  const PassTester tester;
  const auto graph = tester.Parse(R"(
    graph "g" [b in 1..9, k in 1..9, l in 1..9, m in 1..9, n in 1..9]
        (%x: f32[b, k], %w: f32[l, n], %c: f32[n], %d: f32[b, 6], %e: f32[2*m]) -> (%z, %r, %q) {
      const %flat: i64[2] = {3, -1}
      %y = MatMul "product" (%x, %w)
      %s = Add "bias" (%y, %c)
      %z = Add "sum" (%s, %d)
      %again = MatMul "again" (%x, %w)
      %r = Reshape "r" (%again, %flat)
      %q = Relu "stated" (%e) : f32[b + 1]
    })");
  ASSERT_OK(graph.status());
  std::vector<std::string> found;
  for (const Constraint& constraint : graph->constraints) {
    found.push_back(absl::StrCat(ToString(constraint), " of ", constraint.user));
  }
  EXPECT_THAT(found,
              ElementsAre("l = k of MatMul product", "n = 6 or n = 1 of Add sum",
                          "3*floordiv(b*n, 3) = b*n of Reshape r", "b + 1 = 2*m of Relu stated"));
}

// One value that is left is a number, and what follows from it is one too.
TEST(InferType, SettlesSymbols) {
  const PassTester tester;
  EXPECT_OK(tester.Check(InferType, R"(
    graph "g" [b in 1..9, m in 1..9, n in 2..9] (%x: f32[b], %w: f32[2, 3], %d: f32[m, n]) -> (%y, %z) {
      %y = Relu(%x) : f32[m]
      %z = MatMul(%w, %d) : f32[2, 4]
    })",
                         R"(
    graph "g" (%x: f32[3], %w: f32[2, 3], %d: f32[3, 4]) -> (%y, %z) {
      %y = Relu(%x)
      %z = MatMul(%w, %d)
    })"));
  EXPECT_THAT(tester.Parse(R"(
    graph "g" [b in 1..9] (%x: f32[b]) -> (%y) {
      %y = Relu "r" (%x) : f32[10]
    })"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("Relu r needs 10 = b, which no inputs do: b in 1..9")));
}

TEST(InferType, NamesTheNodeThatDoesNotFit) {
  const PassTester tester;
  EXPECT_THAT(tester.Parse(R"(
    graph "g" (%x: f32[2, 3], %z: f32[4]) -> (%y) {
      %y = Add "sum" (%x, %z)
    })"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"sum\" (Add)")));
}

TEST(InferType, RefusesTypesThatTheModelStatesWrongly) {
  const PassTester tester;
  EXPECT_THAT(tester.Parse(R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      %y = Relu "r" (%x) : f32[2, 4]
    })"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("f32[2, 4]"), HasSubstr("\"r\""))));
}

TEST(InferType, SaysThatShapesFromInputsAreLacking) {
  const PassTester tester;
  EXPECT_THAT(tester.Parse(R"(
    graph "g" (%x: f32[2, 3], %shape: i64[?]) -> (%y) {
      %y = Reshape "r" (%x, %shape)
    })"),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("\"r\" (Reshape)"), HasSubstr("values of inputs"))));
}

TEST(InferType, RefusesInputsWithoutType) {
  const PassTester tester;
  EXPECT_THAT(tester.Parse(R"(
    graph "g" (%x) -> (%y) {
      %y = Relu(%x)
    })"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"x\" has no type")));
}

}  // namespace
}  // namespace slipway
