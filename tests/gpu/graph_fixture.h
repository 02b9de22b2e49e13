// GraphTest: graphs that are compiled here, run by the libcuda without a GPU in another process, and held against core/reference.
#ifndef SLIPWAY_TESTS_GPU_GRAPH_FIXTURE_H_
#define SLIPWAY_TESTS_GPU_GRAPH_FIXTURE_H_

#include <functional>
#include <memory>
#include <vector>

#include "core/base/files.h"
#include "core/tensor/comparison.h"
#include "core/tensor/tensor.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"
#include "tests/gpu/compiled_graph.h"
#include "tests/gpu/run_elsewhere.h"

namespace slipway::testing {

class GraphTest : public ::testing::Test {
 protected:
  // How far off the first output may be, by what it should be.
  using ToleranceOf = std::function<Tolerance(const Tensor& exact)>;

  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(compiler_, GraphCompiler::Create());
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("graphs"));
  }

  void CheckRuns(const CompiledGraph& compiled, const std::vector<Tensor>& inputs,
                 const ToleranceOf& tolerance) {
    ASSERT_OK_AND_ASSIGN(
        const std::vector<Tensor> outputs,
        RunElsewhere(compiled.artifact, inputs, compiled.graph.outputs.size(), folder_.path()));
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> exact,
                         compiler_->tester().reference().Evaluate(compiled.graph, inputs));
    EXPECT_OK(CheckClose(outputs[0], exact[0], tolerance(exact[0])));
  }
  // With inputs of RandomInputs.
  void CheckRuns(const CompiledGraph& compiled, const Tolerance& tolerance) {
    CheckRuns(compiled, RandomInputs(compiled.graph, 7),
              [&tolerance](const Tensor&) { return tolerance; });
  }

  std::unique_ptr<GraphCompiler> compiler_;
  TemporaryFolder folder_;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_GPU_GRAPH_FIXTURE_H_
