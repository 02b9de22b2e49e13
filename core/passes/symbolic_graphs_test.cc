// The passes that know no target keep what graphs with symbols compute.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/graph/bind_symbols.h"
#include "core/graph/text.h"
#include "core/passes/alter_layout_pass.h"
#include "core/passes/fuse_ops_pass.h"
#include "core/passes/infer_type_pass.h"
#include "core/passes/pipeline.h"
#include "core/passes/plan_memory_pass.h"
#include "core/passes/testing/pass_tester.h"
#include "core/passes/testing/random_graph.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::RandomGraph;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

enum class Free { kBatch, kImage };  // Only the batch; every extent but the channels.

// The graph with extents of its input replaced by symbols and without inferred types. `values` are
// the symbols' for which it is the graph that it was.
Graph WithSymbols(Graph graph, Free free, SymbolValues& values) {
  std::vector<bool> keeps_type(graph.values.size(), false);
  for (const ValueId id : graph.inputs) {
    Dimensions dimensions = graph.values[id].type->dimensions();
    const char* names[] = {"batch", "", "height", "width"};
    for (const int d : {0, 2, 3}) {
      if (d > 0 && free == Free::kBatch) continue;
      const int64_t extent = dimensions[d].extent();
      values.emplace(names[d], extent);
      graph.symbols.push_back({names[d], 1, 64});
      dimensions[d] = *Expression::Symbol(names[d]);
    }
    graph.values[id].type = ValueType(DataType::kFloat32, dimensions);
    keeps_type[id] = true;
  }
  for (size_t id = 0; id < graph.values.size(); ++id) {
    if (!keeps_type[id] && !graph.values[id].constant.has_value()) graph.values[id].type.reset();
  }
  return graph;
}

class SymbolicGraphs : public ::testing::TestWithParam<Free> {};

TEST_P(SymbolicGraphs, ComputeTheSameOnceBound) {
  const PassTester tester;
  int open_outputs = 0;
  int outputs = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ASSERT_OK_AND_ASSIGN(const Graph original, RandomGraph(tester.registry(), seed));
    SymbolValues values;
    const Graph before = WithSymbols(original, GetParam(), values);
    SCOPED_TRACE(Print(before, {.max_elements = 8}));
    ASSERT_OK_AND_ASSIGN(const PipelineResult result,
                         RunPipeline(before, {}, tester.context(), {}, SystemClock()));
    for (const ValueId id : result.graph.outputs) {
      ++outputs;
      for (const Dimension& dimension : result.graph.values[id].type->dimensions()) {
        open_outputs += dimension.is_unknown();
      }
    }
    ASSERT_OK_AND_ASSIGN(const Graph bound, BindSymbols(result.graph, values));
    // The types of numbers contradict none of those that were inferred from symbols.
    ASSERT_OK_AND_ASSIGN(const Graph typed, InferType(bound, tester.context()));
    ASSERT_OK(CheckStatic(typed, "test")) << Print(typed);
    ASSERT_OK(tester.CheckSameResults(original, bound, seed, {.relative = 2e-3, .absolute = 2e-4}))
        << Print(before);
  }
  // Nothing but what meets another free extent is lost.
  EXPECT_LE(open_outputs * 10, outputs);
}

INSTANTIATE_TEST_SUITE_P(Extents, SymbolicGraphs, ::testing::Values(Free::kBatch, Free::kImage));

TEST(SymbolicGraphsTest, OpenValuesArePlannedBySize) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(const Graph graph,
                       ParseGraph("graph \"g\" [batch in 1..8] (%x: f32[batch, 3]) -> (%y) {"
                                  " %r = Relu(%x) : f32[batch, 3]\n"
                                  " %s = Exp(%r) : f32[batch, 3]\n"
                                  " %y = Relu(%s) : f32[batch, 3] }"));
  ASSERT_OK_AND_ASSIGN(const MemoryPlan plan, PlanMemory(graph, tester.registry()));
  EXPECT_EQ(DumpMemory(graph, plan),
            "arena 0 bytes, lower bound 0\n%x: input 0\n%r: dynamic, 12*batch bytes\n"
            "%s: dynamic, 12*batch bytes\n%y: output 0\n");
}

TEST(SymbolicGraphsTest, WhatTheModelStatesOfATypeIsKept) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(
      const Graph graph,
      ParseGraph("graph \"g\" [b in 1..8] (%x: u8[b, ?]) -> (%y) {\n"
                 "  %y = Identity(%x) : u8[?, 3] quantized {scales = [0.5], zeros = [0]}\n}\n"));
  ASSERT_OK_AND_ASSIGN(const Graph typed, InferType(graph, tester.context()));
  EXPECT_EQ(Print(typed),
            "graph \"g\" opset 28 [b in 1..8] (%x: u8[b, ?]) -> (%y) {\n"
            "  %y = Identity(%x) : u8[b, 3] quantized {scales = [0.5], zeros = [0]}\n}\n");
  // What stands for other numbers is another value.
  ASSERT_OK_AND_ASSIGN(const PipelineResult result,
                       RunPipeline(typed, {}, tester.context(), {}, SystemClock()));
  EXPECT_EQ(Print(result.graph), Print(typed));
}

}  // namespace
}  // namespace slipway
