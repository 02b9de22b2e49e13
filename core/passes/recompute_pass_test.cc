#include "core/passes/recompute_pass.h"

#include "core/graph/text.h"
#include "core/passes/gradient_pass.h"
#include "core/passes/gradients/register_all.h"
#include "core/passes/pipeline.h"
#include "core/passes/testing/pass_tester.h"
#include "core/passes/testing/residual_network.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::ResidualNetwork;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

class RecomputeTest : public ::testing::Test {
 protected:
  absl::StatusOr<Graph> Train(const Graph& network) {
    return Gradient(network, {}, rules_, tester_.context());
  }
  const PassTester tester_;
  const GradientColumn rules_ = StandardGradients();
};

// What it plans in the end a backend's test shows: core/backends/cpu/training_test.cc.
TEST_F(RecomputeTest, CopiesStandBeforeWhatReadsThemAndReadApart) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester_.Parse(R"(
graph "g" (%x: f32[8]) -> (%l, %b) {
  %p = Neg(%x)
  %e = Exp(%p)
  %s = Sin(%e)
  %k = Cos(%s)
  %l = Sqrt(%k)
  %a = Mul(%k, %l)
  %b = Mul(%a, %e)
})"));
  ASSERT_OK_AND_ASSIGN(
      const Graph forgetful,
      Recompute(graph, {.max_forward_flops = 2, .segments = 2}, tester_.context()));
  ASSERT_OK_AND_ASSIGN(const Graph wanted, tester_.Parse(R"(
graph "g" (%x: f32[8]) -> (%l, %b) {
  %p = Neg(%x)
  %e = Exp(%p)
  %s = Sin(%e)
  %k = Cos(%s)
  %l = Sqrt(%k)
  %a = Mul(%k, %l)
  %x_again = slipway.Again(%x)
  %p_again = Neg(%x_again)
  %e_again = Exp(%p_again)
  %b = Mul(%a, %e_again)
})"));
  EXPECT_EQ(Print(forgetful), Print(wanted));
  for (const NamedPass& pass : PassesForEveryTarget()) {
    ASSERT_OK_AND_ASSIGN(const Graph after, pass.pass(forgetful, tester_.context()));
    EXPECT_EQ(Print(after), Print(wanted)) << pass.name;
  }
}

TEST_F(RecomputeTest, ComputesTheSame) {
  ASSERT_OK_AND_ASSIGN(
      const Graph network,
      ResidualNetwork(tester_.registry(), {.image = 8, .channels = 4, .blocks_a_stage = 2}));
  ASSERT_OK_AND_ASSIGN(const Graph plain, Train(network));
  for (const double flops : {1.0, 1.4, 2.0}) {
    ASSERT_OK_AND_ASSIGN(
        const Graph forgetful,
        Recompute(plain, {.max_forward_flops = flops, .segments = 4}, tester_.context()));
    EXPECT_OK(tester_.CheckSameResults(plain, forgetful, 3));
  }
  EXPECT_THAT(Recompute(plain, {.loss = "nothing"}, tester_.context()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"nothing\"")));
}

}  // namespace
}  // namespace slipway
