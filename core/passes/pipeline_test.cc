#include "core/passes/pipeline.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/graph/text.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kSmall[] = R"(
  graph "small" (%x: f32[1, 4, 3, 3]) -> (%y) {
    %d = Dropout(%x)
    %y = Relu "last" (%d)
  })";

absl::StatusOr<Graph> RenameGraph(Graph graph, const PassContext&) {
  graph.name = "renamed";
  return graph;
}

// A backend of one pass and a plan.
BackendPipeline Renaming() {
  return {{{"Rename", RenameGraph}},
          [](const Graph&, const PassContext&) -> absl::StatusOr<MemoryPlan> {
            MemoryPlan plan;
            plan.arena_bytes = 42;
            return plan;
          }};
}

TEST(Pipeline, RunsThePassesOfAllTargetsAndThenTheBackends) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, ParseGraph(kSmall));
  ASSERT_OK_AND_ASSIGN(const PipelineResult result,
                       RunPipeline(graph, Renaming(), tester.context(), {}, SystemClock()));
  std::vector<std::string> names;
  for (const PassReport& pass : result.passes) names.push_back(pass.name);
  EXPECT_THAT(names, ElementsAre("InferType", "ExpandGradients", "LowerStrings", "FoldConstant",
                                 "DelayDequantize", "FoldQuantization", "FoldConstant", "FoldPad",
                                 "RecognizeGelu", "CanonicalizeOps", "SimplifyInference",
                                 "FoldScaleAxis", "DelayResize", "FoldConstant",
                                 "EliminateCommonSubexpr", "DeadCode", "Rename", "PlanMemory"));
  EXPECT_EQ(result.passes.front().nodes_after, 2);
  EXPECT_EQ(result.passes.back().nodes_after, 1);
  EXPECT_EQ(result.graph.name, "renamed");
  EXPECT_EQ(result.memory.arena_bytes, 42);
  EXPECT_EQ(result.printed_graph, "");
}

TEST(Pipeline, TellsWhatPassesLeftUndone) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, ParseGraph(kSmall));
  BackendPipeline backend;
  backend.passes = {{"Leave", [](Graph left, const PassContext& context) -> absl::StatusOr<Graph> {
                       context.ledger->notes.push_back("all of it");
                       return left;
                     }}};
  ASSERT_OK_AND_ASSIGN(const PipelineResult result,
                       RunPipeline(graph, backend, tester.context(), {}, SystemClock()));
  EXPECT_THAT(result.passes.back().notes, ElementsAre("all of it"));
  EXPECT_TRUE(result.passes.front().notes.empty());
}

TEST(Pipeline, ABackendMayDoNothing) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, ParseGraph(kSmall));
  ASSERT_OK_AND_ASSIGN(const PipelineResult result,
                       RunPipeline(graph, {}, tester.context(), {}, SystemClock()));
  EXPECT_EQ(result.passes.back().name, "DeadCode");
  EXPECT_TRUE(result.memory.buffers.empty());
  EXPECT_EQ(PassNames({}).back(), "DeadCode");
}

TEST(Pipeline, PrintsAfterThePassAskedFor) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, ParseGraph(kSmall));
  for (const std::string& name : PassNames(Renaming())) {
    PipelineOptions options;
    options.print_after = name;
    ASSERT_OK_AND_ASSIGN(const PipelineResult result,
                         RunPipeline(graph, Renaming(), tester.context(), options, SystemClock()));
    const bool renamed = name == "Rename" || name == "PlanMemory";
    EXPECT_THAT(result.printed_graph, HasSubstr(renamed ? "graph \"renamed\"" : "graph \"small\""))
        << name;
  }
}

TEST(Pipeline, RefusesToPrintAfterAnUnknownPass) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, ParseGraph(kSmall));
  PipelineOptions options;
  options.print_after = "Fusion";
  EXPECT_THAT(RunPipeline(graph, Renaming(), tester.context(), options, SystemClock()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("\"Fusion\""),
                             HasSubstr("InferType, ExpandGradients, LowerStrings, Fold"),
                             HasSubstr("Rename, PlanMemory"))));
  // Another target's.
  options.print_after = "Rename";
  EXPECT_THAT(RunPipeline(graph, {}, tester.context(), options, SystemClock()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"Rename\"")));
}

TEST(Pipeline, LeavesOutOptionalPassesAlone) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, ParseGraph(kSmall));
  BackendPipeline backend = Renaming();
  PipelineOptions options;
  options.without = {"Rename"};
  EXPECT_THAT(
      RunPipeline(graph, backend, tester.context(), options, SystemClock()),
      StatusIs(
          absl::StatusCode::kInvalidArgument,
          AllOf(
              HasSubstr("\"Rename\""),
              HasSubstr("those are DelayResize, EliminateCommonSubexpr, FoldPad, FoldQuantization, "
                        "FoldScaleAxis"))));
  backend.passes[0].is_optional = true;
  ASSERT_OK_AND_ASSIGN(const PipelineResult result,
                       RunPipeline(graph, backend, tester.context(), options, SystemClock()));
  EXPECT_EQ(result.graph.name, "small");
}

TEST(Pipeline, NamesPassAndNodeOfAWrongModel) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, ParseGraph(R"(
    graph "wrong" (%x: f32[2, 3], %z: f32[4, 5]) -> (%y) {
      %y = MatMul "product" (%x, %z)
    })"));
  EXPECT_THAT(RunPipeline(graph, {}, tester.context(), {}, SystemClock()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"product\" (MatMul)")));
}

TEST(Pipeline, NamesThePassThatLeavesAWrongGraph) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, ParseGraph(kSmall));
  const BackendPipeline forgetful = {
      {{"Forget",
        [](Graph forgotten, const PassContext&) -> absl::StatusOr<Graph> {
          forgotten.nodes.clear();
          return forgotten;
        }}},
      {}};
  EXPECT_THAT(RunPipeline(graph, forgetful, tester.context(), {}, SystemClock()),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("wrong after Forget")));
}

}  // namespace
}  // namespace slipway
