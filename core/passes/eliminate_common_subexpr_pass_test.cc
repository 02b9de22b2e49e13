#include "core/passes/eliminate_common_subexpr_pass.h"

#include <gtest/gtest.h>

#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(EliminateCommonSubexpr, MergesConstantsThenNodes) {
  const PassTester tester;
  EXPECT_OK(tester.Check(EliminateCommonSubexpr, R"(
    graph "g" (%x: f32[2]) -> (%y) {
      const %a: f32[2] = {1.0, 2.0}
      const %b: f32[2] = {1.0, 2.0}
      const %c: f32[2] = {1.0, 3.0}
      %p = Add(%x, %a)
      %q = Add(%x, %b)
      %r = Add(%x, %c)
      %s = Mul(%p, %q)
      %y = Mul(%s, %r)
    })",
                         R"(
    graph "g" (%x: f32[2]) -> (%y) {
      const %a: f32[2] = {1.0, 2.0}
      const %c: f32[2] = {1.0, 3.0}
      %p = Add(%x, %a)
      %r = Add(%x, %c)
      %s = Mul(%p, %p)
      %y = Mul(%s, %r)
    })"));
}

TEST(EliminateCommonSubexpr, LooksAtAttributes) {
  const PassTester tester;
  EXPECT_OK(tester.Check(EliminateCommonSubexpr, R"(
    graph "g" (%x: f32[2]) -> (%y) {
      %p = LeakyRelu(%x) {alpha = 0.1}
      %q = LeakyRelu(%x) {alpha = 0.2}
      %y = Mul(%p, %q)
    })",
                         R"(
    graph "g" (%x: f32[2]) -> (%y) {
      %p = LeakyRelu(%x) {alpha = 0.1}
      %q = LeakyRelu(%x) {alpha = 0.2}
      %y = Mul(%p, %q)
    })"));
}

TEST(EliminateCommonSubexpr, KeepsTheNamesOfOutputs) {
  const PassTester tester;
  EXPECT_OK(tester.Check(EliminateCommonSubexpr, R"(
    graph "g" (%x: f32[2]) -> (%y, %z) {
      %y = Relu(%x)
      %z = Relu(%x)
    })",
                         R"(
    graph "g" (%x: f32[2]) -> (%y, %z) {
      %y = Relu(%x)
      %z = Identity "z" (%y)
    })"));
}

}  // namespace
}  // namespace slipway
