#include "core/passes/dead_code_pass.h"

#include <gtest/gtest.h>

#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(DeadCode, DropsWhatNoOutputNeeds) {
  const PassTester tester;
  EXPECT_OK(tester.Check(DeadCode, R"(
    graph "g" (%x: f32[3], %unused: f32[3]) -> (%y) {
      const %c: f32[3] = {1.0, 2.0, 3.0}
      %dead = Add(%x, %c)
      %dead_too = Relu(%dead)
      %y = Relu(%x)
    })",
                         R"(
    graph "g" (%x: f32[3], %unused: f32[3]) -> (%y) {
      %y = Relu(%x)
    })"));
}

TEST(DeadCode, DropsOptionalOutputs) {
  const PassTester tester;
  EXPECT_OK(tester.Check(DeadCode, R"(
    graph "g" (%x: f32[3]) -> (%y) {
      %y, %mask = Dropout(%x)
    })",
                         R"(
    graph "g" (%x: f32[3]) -> (%y) {
      %y = Dropout(%x)
    })"));
}

// Fewer outputs would be other parts.
TEST(DeadCode, KeepsTheNumberOfVariadicOutputs) {
  const PassTester tester;
  EXPECT_OK(tester.Check(DeadCode, R"(
    graph "g" (%x: f32[4]) -> (%b) {
      %a, %b, %c, %d = Split(%x) {num_outputs = 4}
    })",
                         R"(
    graph "g" (%x: f32[4]) -> (%b) {
      %a, %b, _, _ = Split(%x) {num_outputs = 4}
    })"));
}

}  // namespace
}  // namespace slipway
