#include "core/passes/pipeline.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/graph/text.h"
#include "core/passes/testing/pass_tester.h"
#include "core/passes/testing/random_graph.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::EvaluateInPlannedMemory;
using ::slipway::testing::PassTester;
using ::slipway::testing::RandomGraph;
using ::slipway::testing::RandomInputs;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kSmall[] = R"(
  graph "small" opset 13 (%x: f32[1, 4, 3, 3]) -> (%y) {
    %d = Dropout(%x)
    %y = Relu "last" (%d)
  })";

TEST(Pipeline, ReportsEveryPass) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, ParseGraph(kSmall));
  ASSERT_OK_AND_ASSIGN(const PipelineResult result,
                       RunPipeline(graph, tester.context(), {}, SystemClock()));
  ASSERT_EQ(result.passes.size(), 12u);
  EXPECT_EQ(result.passes.front().name, "InferType");
  EXPECT_EQ(result.passes.front().nodes_after, 2);
  EXPECT_EQ(result.passes.back().name, "PlanMemory");
  EXPECT_EQ(result.passes.back().nodes_after, 1);
  EXPECT_EQ(result.printed_graph, "");
}

TEST(Pipeline, PrintsAfterThePassAskedFor) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, ParseGraph(kSmall));
  for (const std::string& name : PassNames()) {
    PipelineOptions options;
    options.print_after = name;
    ASSERT_OK_AND_ASSIGN(const PipelineResult result,
                         RunPipeline(graph, tester.context(), options, SystemClock()));
    EXPECT_THAT(result.printed_graph, HasSubstr("graph \"small\"")) << name;
  }
}

TEST(Pipeline, RefusesToPrintAfterAnUnknownPass) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, ParseGraph(kSmall));
  PipelineOptions options;
  options.print_after = "Fusion";
  EXPECT_THAT(RunPipeline(graph, tester.context(), options, SystemClock()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("\"Fusion\""), HasSubstr("InferType, FoldConstant, Canon"),
                             HasSubstr("FuseOps, PlanMemory"))));
}

TEST(Pipeline, NamesPassAndNodeOfAWrongModel) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, ParseGraph(R"(
    graph "wrong" opset 13 (%x: f32[2, 3], %z: f32[4, 5]) -> (%y) {
      %y = MatMul "product" (%x, %z)
    })"));
  EXPECT_THAT(RunPipeline(graph, tester.context(), {}, SystemClock()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"product\" (MatMul)")));
}

// The property that all passes have to keep.
class RandomGraphs : public ::testing::TestWithParam<std::string> {};

TEST_P(RandomGraphs, ComputeTheSameBeforeAndAfter) {
  const PassTester tester(GetParam());
  std::set<std::string> operators;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ASSERT_OK_AND_ASSIGN(const Graph before, RandomGraph(tester.registry(), seed));
    ASSERT_OK_AND_ASSIGN(const PipelineResult result,
                         RunPipeline(before, tester.context(), {}, SystemClock()));
    ASSERT_OK(
        tester.CheckSameResults(before, result.graph, seed, {.relative = 2e-3, .absolute = 2e-4}))
        << Print(before) << Print(result.graph);
    const std::vector<Tensor> inputs = RandomInputs(before, seed);
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> expected,
                         tester.reference().Evaluate(result.graph, inputs));
    ASSERT_OK_AND_ASSIGN(
        const std::vector<Tensor> planned,
        EvaluateInPlannedMemory(result.graph, result.memory, inputs, tester.reference()));
    ASSERT_EQ(planned.size(), expected.size());
    for (size_t i = 0; i < planned.size(); ++i) {
      ASSERT_EQ(planned[i].bytes(), expected[i].bytes()) << Print(result.graph);
    }
    for (const Node& node : result.graph.nodes) {
      const auto* body = node.attributes.FindAs<std::shared_ptr<const Graph>>("body");
      if (body == nullptr) continue;
      for (const Node& inner : (*body)->nodes) operators.insert(inner.op);
    }
  }
  // The generator reaches what the passes make.
  for (const char* op : {"slipway.ConvNCHWc", "slipway.DepthwiseConvNCHWc", "slipway.MaxPoolNCHWc",
                         "slipway.AveragePoolNCHWc", "slipway.GemmPacked", "slipway.Pack",
                         "slipway.Unpack", "ReduceMean", "Concat", "Softmax", "Conv"}) {
    EXPECT_EQ(operators.count(op), 1u) << op;
  }
  EXPECT_EQ(operators.count("BatchNormalization"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Targets, RandomGraphs,
                         ::testing::Values("x86-64-linux", "x86-64-v3-linux", "x86-64-v4-linux",
                                           "arm-64-linux"));

}  // namespace
}  // namespace slipway
