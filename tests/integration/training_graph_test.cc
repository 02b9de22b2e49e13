// Graphs of the way back, compiled and run: what Gradient and Recompute make is a model like others.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/compiler/compiler.h"
#include "core/operators/reshaping.h"
#include "core/passes/gradient_pass.h"
#include "core/passes/gradients/register_all.h"
#include "core/passes/recompute_pass.h"
#include "core/passes/testing/pass_tester.h"
#include "core/runtime/load_program.h"
#include "core/target/target.h"
#include "core/tensor/comparison.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::RandomInputs;

class TrainingGraphTest : public ::testing::Test {
 protected:
  // Compiles what the passes make of the model, and compares with the reference.
  void Check(absl::string_view text, const RecomputeOptions& recompute) {
    ASSERT_OK_AND_ASSIGN(Graph graph, tester_.Parse(text));
    ASSERT_OK_AND_ASSIGN(graph,
                         Gradient(std::move(graph), {}, StandardGradients(), tester_.context()));
    const std::vector<Tensor> inputs = RandomInputs(graph, 5);
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> expected,
                         tester_.reference().Evaluate(graph, inputs));
    ASSERT_OK_AND_ASSIGN(graph, Recompute(std::move(graph), recompute, tester_.context()));
    const bool copies = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                    [](const Node& node) { return node.op == kAgainOperator; });
    EXPECT_EQ(copies, recompute.max_forward_flops > 1);
    CompileEnvironment environment;
    environment.clock = &clock_;
    ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                         CompileGraph(graph, HostTarget(), {}, environment));
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Program> program, LoadProgram(compiled.artifact));
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<ProgramContext> context, program->NewContext({}));
    std::vector<Tensor> outputs(expected.size());
    ASSERT_OK(context->Run(inputs, absl::MakeSpan(outputs)));
    for (size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_OK(CheckClose(outputs[i], expected[i], {1e-4, 1e-4})) << i;
    }
  }

  const PassTester tester_;
  SystemClock clock_;
};

TEST_F(TrainingGraphTest, ThroughARecurrence) {
  Check(R"(
    graph "cells" (%h: f32[4], %u: f32[6, 4], %w: f32[4, 4]) -> (%loss) {
      %last, %all = Scan(%h, %u, %w) {num_scan_inputs = 1, captures = 1, scan_input_directions = [1],
        body = graph "cell" (%h, %x, %w) -> (%next, %y) {
          const %zero: f32[] = {0}
          %p = MatMul(%h, %w)
          %total = ReduceSum(%x) {keepdims = 0}
          %positive = Greater(%total, %zero)
          %s = If(%positive, %p, %x) {captures = 2,
            then_branch = graph "add" (%p, %x) -> (%a) { %a = Add(%p, %x) },
            else_branch = graph "multiply" (%p, %x) -> (%m) { %m = Mul(%p, %x) }
          }
          %next = Tanh(%s)
          %y = Mul(%next, %x)
        }
      }
      %sum = ReduceSum(%all) {keepdims = 0}
      %ends = ReduceSum(%last) {keepdims = 0}
      %loss = Mul(%sum, %ends)
    })",
        {.max_forward_flops = 1});
}

TEST_F(TrainingGraphTest, ThroughTurnsThatAreCounted) {
  Check(R"(
    graph "turns" (%x: f32[5], %w: f32[5]) -> (%loss) {
      const %turns: i64[] = {3}
      const %yes: bool[] = {true}
      %last, %all = Loop(%turns, %yes, %x, %w) {captures = 1,
        body = graph "turn" (%i, %on, %v, %w) -> (%on, %next, %p) {
          %t = Cast(%i) {to = 1}
          %p = Mul(%v, %w)
          %q = Add(%p, %t)
          %next = Sin(%q)
        }
      }
      %sums = ReduceSum(%all) {keepdims = 0}
      %ends = ReduceSum(%last) {keepdims = 0}
      %loss = Mul(%sums, %ends)
    })",
        {.max_forward_flops = 1});
}

TEST_F(TrainingGraphTest, WithWhatIsComputedAgain) {
  Check(R"(
    graph "deep" (%x: f32[16, 8], %w: f32[8, 8]) -> (%loss) {
      %a = MatMul(%x, %w)
      %b = Tanh(%a)
      %c = MatMul(%b, %w)
      %d = Tanh(%c)
      %e = MatMul(%d, %w)
      %f = Tanh(%e)
      %g = MatMul(%f, %w)
      %h = Tanh(%g)
      %loss = ReduceSum(%h) {keepdims = 0}
    })",
        {.max_forward_flops = 2, .segments = 3});
}

}  // namespace
}  // namespace slipway
