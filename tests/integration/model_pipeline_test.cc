// The public models through import and all passes, evaluated by core/reference before and after.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/backends/cpu/cpu_pipeline.h"
#include "core/base/clock.h"
#include "core/graph/graph.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/passes/infer_type_pass.h"
#include "core/passes/pipeline.h"
#include "core/passes/testing/pass_tester.h"
#include "core/tensor/comparison.h"
#include "tests/common/model_folder.h"
#include "tests/common/seeded_weights.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

// What the passes made of the model, for people who read the log.
void PrintSummary(const PipelineResult& result) {
  std::map<std::string, int> groups;
  for (const Node& node : result.graph.nodes) {
    const auto* body = node.attributes.FindAs<std::shared_ptr<const Graph>>("body");
    std::string operators = body == nullptr ? absl::StrCat("(", node.op, ")") : "";
    if (body != nullptr) {
      for (const Node& inner : (*body)->nodes) absl::StrAppend(&operators, " ", inner.op);
    }
    ++groups[operators];
  }
  for (const auto& [operators, count] : groups) std::cout << count << " x " << operators << "\n";
  for (const PassReport& pass : result.passes) {
    std::cout << pass.name << ": " << absl::FormatDuration(pass.duration) << ", "
              << pass.nodes_after << " nodes\n";
  }
  std::cout << "arena " << result.memory.arena_bytes << " bytes, lower bound "
            << result.memory.arena_lower_bound_bytes << "\n";
}

class ModelPipeline : public ::testing::TestWithParam<std::string> {};

TEST_P(ModelPipeline, ComputesTheSameBeforeAndAfter) {
  if (!HaveModels()) GTEST_SKIP() << "SLIPWAY_MODELS is not set";
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(const ModelCase model, LoadModelCase(GetParam()));
  ASSERT_OK_AND_ASSIGN(Graph graph, ImportOnnx({Blob::Own(model.bytes), {}}, tester.registry()));
  ASSERT_OK_AND_ASSIGN(graph, InferType(std::move(graph), tester.context()));
  if (!model.has_weights) graph = WithSeededWeights(std::move(graph), 1);

  ASSERT_OK_AND_ASSIGN(const PipelineResult result,
                       RunPipeline(graph, CpuPipeline(ParseTarget("x86-64-v4-linux")->host()),
                                   tester.context(), {}, SystemClock()));
  PrintSummary(result);
  if (!model.has_weights) {
    EXPECT_OK(tester.CheckSameResults(graph, result.graph, 1));
    return;
  }
  ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> outputs,
                       tester.reference().Evaluate(result.graph, model.inputs));
  ASSERT_EQ(outputs.size(), model.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_OK(CheckClose(outputs[i], model.outputs[i], {})) << "output " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ModelPipeline, ::testing::ValuesIn(ModelNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace slipway::testing
