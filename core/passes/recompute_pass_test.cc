#include "core/passes/recompute_pass.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/graph/builder.h"
#include "core/graph/verifier.h"
#include "core/passes/arena_plan.h"
#include "core/passes/gradient_pass.h"
#include "core/passes/gradients/register_all.h"
#include "core/passes/node_cost.h"
#include "core/passes/testing/pass_tester.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::RandomInputs;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

// The residual network of 6n + 2 layers for small images (He et al., 2015), with batch statistics.
class ResidualNetwork {
 public:
  ResidualNetwork(const OperatorRegistry& registry, int64_t image, int64_t channels)
      : b_("residual", registry), image_(image), channels_(channels) {}

  absl::StatusOr<Graph> Build(int blocks_a_stage) {
    ValueId x = b_.Input("x", DataType::kFloat32, {2, 3, image_, image_});
    x = b_.Add("Relu", {Convolution(x, 3, channels_, 3, 1)});
    int64_t from = channels_;
    for (int stage = 0; stage < 3; ++stage) {
      const int64_t to = channels_ << stage;
      for (int block = 0; block < blocks_a_stage; ++block) {
        const int64_t stride = stage > 0 && block == 0 ? 2 : 1;
        const ValueId inner = b_.Add("Relu", {Convolution(x, from, to, 3, stride)});
        const ValueId outer = Convolution(inner, to, to, 3, 1);
        const ValueId straight = from == to ? x : Convolution(x, from, to, 1, stride);
        x = b_.Add("Relu", {b_.Add("Add", {outer, straight})});
        from = to;
      }
    }
    const ValueId features = b_.Add("Flatten", {b_.Add("GlobalAveragePool", {x})});
    const ValueId scores = b_.Add("Gemm", {features, Weights({from, 10})});
    const ValueId classes = b_.Constant("classes", Tensor::Of<int64_t>({2}, {3, 7}));
    b_.Output(b_.AddNamed("loss", "SoftmaxCrossEntropyLoss", {scores, classes}));
    return std::move(b_).Build();
  }

 private:
  ValueId Weights(const std::vector<int64_t>& shape) {
    return b_.Input("w", DataType::kFloat32, shape);
  }
  ValueId Convolution(ValueId x, int64_t from, int64_t to, int64_t kernel, int64_t stride) {
    const int64_t pad = kernel / 2;
    const ValueId sum =
        b_.Add("Conv", {x, Weights({to, from, kernel, kernel})},
               {{"pads", Ints({pad, pad, pad, pad})}, {"strides", Ints({stride, stride})}});
    const ValueId zeros = b_.Constant("m", Tensor::Zeros(DataType::kFloat32, {to}));
    return b_.AddMany("BatchNormalization", {sum, Weights({to}), Weights({to}), zeros, zeros}, 3,
                      {{"training_mode", int64_t{1}}})[0];
  }

  GraphBuilder b_;
  const int64_t image_;
  const int64_t channels_;
};

// What the values of nodes take in one arena, in the nodes' order.
int64_t ActivationBytes(const Graph& graph) {
  std::vector<ArenaPiece> pieces(graph.values.size());
  std::vector<bool> is_made(graph.values.size(), false);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const int step = static_cast<int>(n);
    for (const ValueId id : graph.nodes[n].outputs) {
      if (id == kNoValue) continue;
      pieces[id] = {step, step, graph.values[id].type->byte_size()};
      is_made[id] = true;
    }
    for (const ValueId id : graph.nodes[n].inputs) {
      if (id != kNoValue && is_made[id]) pieces[id].last = step;
    }
  }
  // Results are the caller's.
  for (const ValueId id : graph.outputs) pieces[id].bytes = 0;
  const auto plan = PlanArena(pieces, 64);
  EXPECT_OK(plan.status());
  return plan.ok() ? plan->arena_bytes : 0;
}

double Flops(const Graph& graph) {
  double flops = 0;
  for (const Node& node : graph.nodes) flops += NodeFlops(graph, node);
  return flops;
}

class RecomputeTest : public ::testing::Test {
 protected:
  absl::StatusOr<Graph> Train(const Graph& network) {
    return Gradient(network, {}, rules_, tester_.context());
  }
  const PassTester tester_;
  const GradientColumn rules_ = StandardGradients();
};

TEST_F(RecomputeTest, AHundredLayersTakeAThirdOfTheBytes) {
  ASSERT_OK_AND_ASSIGN(const Graph network, ResidualNetwork(tester_.registry(), 32, 16).Build(16));
  ASSERT_OK_AND_ASSIGN(const Graph plain, Train(network));
  ASSERT_OK_AND_ASSIGN(const Graph forgetful, Recompute(plain, {}, tester_.context()));
  ASSERT_OK(Verify(forgetful, tester_.registry(), {.require_types = true}));
  const int64_t before = ActivationBytes(plain);
  const int64_t after = ActivationBytes(forgetful);
  RecordProperty("plain_bytes", std::to_string(before));
  RecordProperty("recomputing_bytes", std::to_string(after));
  EXPECT_LE(after * 3, before) << after << " of " << before;
  const double more = (Flops(forgetful) - Flops(plain)) / Flops(network);
  EXPECT_LE(more, 0.4);
  EXPECT_GT(more, 0);
}

TEST_F(RecomputeTest, MemoryGrowsSlowerThanDepth) {
  const auto bytes = [this](int blocks) {
    auto network = ResidualNetwork(tester_.registry(), 8, 4).Build(blocks);
    EXPECT_OK(network.status());
    auto trained = Train(*network);
    EXPECT_OK(trained.status());
    auto forgetful = Recompute(*std::move(trained), {.max_forward_flops = 2}, tester_.context());
    EXPECT_OK(forgetful.status());
    return ActivationBytes(*forgetful);
  };
  // Four times the depth takes about twice the bytes.
  EXPECT_LE(static_cast<double>(bytes(32)), 2.6 * static_cast<double>(bytes(8)));
}

TEST_F(RecomputeTest, ComputesTheSame) {
  ASSERT_OK_AND_ASSIGN(const Graph network, ResidualNetwork(tester_.registry(), 8, 4).Build(2));
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
