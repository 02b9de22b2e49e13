// Training graphs through the CPU's whole pipeline.
#include <cstdint>
#include <iostream>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "core/backends/cpu/cpu_backend.h"
#include "core/base/clock.h"
#include "core/passes/gradient_pass.h"
#include "core/passes/gradients/register_all.h"
#include "core/passes/node_cost.h"
#include "core/passes/recompute_pass.h"
#include "core/passes/testing/pass_tester.h"
#include "core/passes/testing/residual_network.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::EvaluateInPlannedMemory;
using ::slipway::testing::PassTester;
using ::slipway::testing::RandomInputs;
using ::slipway::testing::ResidualNetwork;

// Of all nodes, those in groups too; views take none.
double Flops(const Graph& graph, const OperatorRegistry& registry) {
  double flops = 0;
  for (const Node& node : graph.nodes) {
    if (registry.MovementOf(node.op) == Movement::kView) continue;
    bool has_body = false;
    for (const auto& [name, value] : node.attributes) {
      const auto* body = std::get_if<std::shared_ptr<const Graph>>(&value);
      if (body == nullptr) continue;
      has_body = true;
      flops += Flops(**body, registry);
    }
    if (!has_body) flops += NodeFlops(graph, node, registry);
  }
  return flops;
}

class TrainingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    environment_.registry = &tester_.registry();
    environment_.clock = &clock_;
    ASSERT_OK_AND_ASSIGN(backend_, CreateCpuBackend(environment_));
  }
  absl::StatusOr<PipelineResult> Compiled(const Graph& graph) {
    return RunPipeline(graph, backend_->PipelineFor(*ParseTarget("x86-64-v3-linux")),
                       tester_.context(), {}, clock_);
  }

  const PassTester tester_;
  SystemClock clock_;
  BackendEnvironment environment_;
  std::unique_ptr<TargetBackend> backend_;
};

TEST_F(TrainingTest, AHundredLayersPlanAThirdOfTheBytes) {
  ASSERT_OK_AND_ASSIGN(const Graph network,
                       ResidualNetwork(tester_.registry(), {.blocks_a_stage = 16}));
  ASSERT_OK_AND_ASSIGN(const Graph train,
                       Gradient(network, {}, StandardGradients(), tester_.context()));
  ASSERT_OK_AND_ASSIGN(const Graph recomputing, Recompute(train, {}, tester_.context()));
  ASSERT_OK_AND_ASSIGN(const PipelineResult forward, Compiled(network));
  ASSERT_OK_AND_ASSIGN(const PipelineResult plain, Compiled(train));
  ASSERT_OK_AND_ASSIGN(const PipelineResult forgetful, Compiled(recomputing));
  const auto flops = [this](const PipelineResult& result) {
    return Flops(result.graph, tester_.registry());
  };
  const double more = (flops(forgetful) - flops(plain)) / flops(forward);
  std::cout << "plain " << plain.memory.arena_bytes << " bytes, recomputing "
            << forgetful.memory.arena_bytes << " bytes ("
            << static_cast<double>(forgetful.memory.arena_bytes) /
                   static_cast<double>(plain.memory.arena_bytes)
            << ") at " << 1 + more << " times the flops of the way forward\n";
  EXPECT_LE(forgetful.memory.arena_bytes * 3, plain.memory.arena_bytes);
  EXPECT_LE(more, 0.4);
  EXPECT_GT(more, 0.2);
}

TEST_F(TrainingTest, MemoryGrowsSlowerThanDepth) {
  const auto bytes = [this](int blocks) {
    auto network =
        ResidualNetwork(tester_.registry(), {.image = 8, .channels = 4, .blocks_a_stage = blocks});
    EXPECT_OK(network.status());
    auto train = Gradient(*network, {}, StandardGradients(), tester_.context());
    EXPECT_OK(train.status());
    auto recomputing = Recompute(*train, {.max_forward_flops = 2}, tester_.context());
    EXPECT_OK(recomputing.status());
    auto compiled = Compiled(*recomputing);
    EXPECT_OK(compiled.status());
    return static_cast<double>(compiled->memory.arena_bytes);
  };
  // Four times the depth takes about twice the bytes.
  EXPECT_LE(bytes(32), 2.6 * bytes(8));
}

TEST_F(TrainingTest, ComputesTheSameInLessMemory) {
  ASSERT_OK_AND_ASSIGN(
      const Graph network,
      ResidualNetwork(tester_.registry(), {.image = 8, .channels = 4, .blocks_a_stage = 2}));
  ASSERT_OK_AND_ASSIGN(const Graph train,
                       Gradient(network, {}, StandardGradients(), tester_.context()));
  ASSERT_OK_AND_ASSIGN(const Graph recomputing,
                       Recompute(train, {.max_forward_flops = 2}, tester_.context()));
  ASSERT_OK_AND_ASSIGN(const PipelineResult plain, Compiled(train));
  ASSERT_OK_AND_ASSIGN(const PipelineResult forgetful, Compiled(recomputing));
  EXPECT_LT(forgetful.memory.arena_bytes, plain.memory.arena_bytes);
  const std::vector<Tensor> inputs = RandomInputs(train, 7);
  ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> expected,
                       tester_.reference().Evaluate(train, inputs));
  ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> planned,
      EvaluateInPlannedMemory(forgetful.graph, forgetful.memory, inputs, tester_.reference()));
  ASSERT_EQ(planned.size(), expected.size());
  for (size_t i = 0; i < planned.size(); ++i) {
    EXPECT_OK(CheckClose(planned[i], expected[i], {.relative = 2e-3, .absolute = 2e-4})) << i;
  }
}

}  // namespace
}  // namespace slipway
