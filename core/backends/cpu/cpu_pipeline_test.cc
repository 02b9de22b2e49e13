#include "core/backends/cpu/cpu_pipeline.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
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
using ::testing::HasSubstr;

DeviceTarget Device(const std::string& name) { return ParseTarget(name)->host(); }

TEST(CpuPipeline, BlocksOfOneVectorAndPanelsOfTwo) {
  constexpr char kModel[] = R"(
    graph "g" (%x: f32[1, 3, 4, 4]) -> (%y) {
      const %w: f32[32, 3, 1, 1] = splat 0.5
      const %v: f32[32, 32] = splat 0.25
      %c = Conv(%x, %w)
      %m = GlobalMaxPool(%c)
      %f = Flatten(%m)
      %y = Gemm(%f, %v)
    })";
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(const Graph graph, ParseGraph(kModel));
  const struct {
    const char* target;
    const char* blocked;
    const char* panels;
  } rows[] = {{"x86-64-v4-linux", "f32[1, 2, 4, 4, 16]", "f32[2, 32, 16]"},
              {"x86-64-v3-linux", "f32[1, 4, 4, 4, 8]", "f32[2, 32, 16]"},
              {"x86-64-v2-linux", "f32[1, 8, 4, 4, 4]", "f32[4, 32, 8]"},
              {"arm-64-linux", "f32[1, 8, 4, 4, 4]", "f32[4, 32, 8]"}};
  for (const auto& row : rows) {
    PipelineOptions options;
    options.print_after = "PackGemm";
    ASSERT_OK_AND_ASSIGN(const PipelineResult result,
                         RunPipeline(graph, CpuPipeline(Device(row.target)), tester.context(),
                                     options, SystemClock()));
    EXPECT_THAT(result.printed_graph, HasSubstr(row.blocked)) << row.target;
    EXPECT_THAT(result.printed_graph, HasSubstr(row.panels)) << row.target;
  }
}

TEST(CpuPipeline, BlocksOfAWholeRowOfATileRegister) {
  constexpr char kReal[] = R"(
    graph "g" (%x: f32[1, 64, 4, 4]) -> (%y) {
      const %w: f32[64, 64, 1, 1] = splat 0.5
      %y = Conv(%x, %w)
    })";
  constexpr char kInteger[] = R"(
    graph "g" (%x: i16[1, 64, 4, 4]) -> (%y) {
      const %w: i16[64, 64, 1, 1] = splat 1
      %y = slipway.IntegerConv(%x, %w)
    })";
  const PassTester tester;
  const struct {
    const char* target;
    const char* model;
    Precision precision;
    const char* blocked;
  } rows[] = {{"x86-64-v4-linux-amxbf16", kReal, Precision::kBfloat16, "f32[1, 2, 4, 4, 32]"},
              {"x86-64-v4-linux-amxbf16", kReal, Precision::kFloat32, "f32[1, 4, 4, 4, 16]"},
              {"x86-64-v4-linux-amxint8", kReal, Precision::kBfloat16, "f32[1, 4, 4, 4, 16]"},
              {"x86-64-v4-linux-amxint8", kInteger, Precision::kFloat32, "i32[1, 1, 4, 4, 64]"},
              {"x86-64-v4-linux-vnni", kInteger, Precision::kFloat32, "i32[1, 4, 4, 4, 16]"}};
  for (const auto& row : rows) {
    ASSERT_OK_AND_ASSIGN(const Graph graph, ParseGraph(row.model));
    PipelineOptions options;
    options.print_after = "AlterLayout";
    ASSERT_OK_AND_ASSIGN(const PipelineResult result,
                         RunPipeline(graph, CpuPipeline(Device(row.target), nullptr, row.precision),
                                     tester.context(), options, SystemClock()));
    EXPECT_THAT(result.printed_graph, HasSubstr(row.blocked)) << row.target << row.model;
  }
}

// A stem's channels are a block of four where its columns make up for that, and all that a depthwise convolution reads is bf16.
TEST(CpuPipeline, StemsAndDepthwiseConvolutionsBesideTileRegisters) {
  constexpr char kModel[] = R"(
    graph "g" (%x: f32[1, 3, 8, 8]) -> (%y, %z) {
      const %w: f32[32, 3, 3, 3] = splat 0.5
      const %v: f32[32, 1, 3, 3] = splat 0.5
      const %u: f32[32, 3, 1, 1] = splat 0.5
      %c = Conv(%x, %w)
      %y = Conv(%c, %v) {group = 32}
      %z = Conv(%x, %u)
    })";
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(const Graph graph, ParseGraph(kModel));
  PipelineOptions options;
  options.print_after = "NarrowProducts";
  const auto printed = [&](const char* target) {
    const auto result =
        RunPipeline(graph, CpuPipeline(Device(target), nullptr, Precision::kBfloat16),
                    tester.context(), options, SystemClock());
    EXPECT_OK(result.status());
    return result.ok() ? result->printed_graph : "";
  };
  const std::string tiles = printed("x86-64-v4-linux-amxbf16");
  EXPECT_THAT(tiles, HasSubstr("bf16[1, 1, 8, 8, 4]"));
  EXPECT_THAT(tiles, HasSubstr("bf16[1, 1, 6, 6, 32]"));
  EXPECT_THAT(tiles, HasSubstr("f32[1, 3, 1, 1, 32]"));  // One column is too little.
  const std::string vectors = printed("x86-64-v4-linux-bf16");
  EXPECT_THAT(vectors, ::testing::Not(HasSubstr("slipway.Pack")));
  EXPECT_THAT(vectors, HasSubstr("bf16[1, 2, 6, 6, 16]"));
}

// The property that all passes have to keep.
class RandomGraphs : public ::testing::TestWithParam<std::string> {};

TEST_P(RandomGraphs, ComputeTheSameBeforeAndAfter) {
  const PassTester tester;
  const BackendPipeline cpu = CpuPipeline(Device(GetParam()));
  std::set<std::string> operators;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ASSERT_OK_AND_ASSIGN(const Graph before, RandomGraph(tester.registry(), seed));
    ASSERT_OK_AND_ASSIGN(const PipelineResult result,
                         RunPipeline(before, cpu, tester.context(), {}, SystemClock()));
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
