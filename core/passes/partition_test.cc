// Partition and PlaceDevice: what is taken apart computes the same.
#include "core/passes/partition.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/text.h"
#include "core/graph/verifier.h"
#include "core/passes/node_cost.h"
#include "core/passes/place_device_pass.h"
#include "core/passes/testing/pass_tester.h"
#include "core/passes/testing/random_graph.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::RandomGraph;
using ::slipway::testing::RandomInputs;
using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kGraph[] = R"(graph "g" (%x: f32[4]) -> (%z, %x) {
  const %c: f32[4] = {1, 2, 3, 4}
  %a = Relu(%x)
  %b = Exp(%a)
  %d = Add(%b, %c)
  %e = Exp(%x)
  %f = Mul(%e, %c)
  %z = Add "sum" (%d, %f)
})";

bool IsExp(const Graph&, const Node& node) { return node.op == "Exp"; }

class PartitionTest : public ::testing::Test {
 protected:
  // Runs the parts one after the other.
  void ExpectSame(const Graph& whole, const std::vector<Graph>& parts) {
    const std::vector<Tensor> inputs = RandomInputs(whole, 5);
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> expected,
                         tester_.reference().Evaluate(whole, inputs));
    std::map<std::string, Tensor> known;
    for (size_t i = 0; i < inputs.size(); ++i) {
      known[whole.values[whole.inputs[i]].name] = inputs[i];
    }
    for (const Graph& part : parts) {
      ASSERT_OK(Verify(part, tester_.registry(), {.require_types = true})) << Print(part);
      std::vector<Tensor> given;
      for (const ValueId id : part.inputs) given.push_back(known.at(part.values[id].name));
      ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> made,
                           tester_.reference().Evaluate(part, given));
      for (size_t i = 0; i < made.size(); ++i) known[part.values[part.outputs[i]].name] = made[i];
    }
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(known.at(whole.values[whole.outputs[i]].name).bytes(), expected[i].bytes());
    }
  }
  const PassTester tester_;
};

TEST_F(PartitionTest, ByPredicate) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester_.Parse(kGraph));
  const std::vector<int> parts = PartsByPredicate(graph, IsExp);
  EXPECT_THAT(parts, ElementsAre(0, 1, 2, 1, 2, 2));
  ASSERT_OK_AND_ASSIGN(const std::vector<Graph> graphs, SplitIntoParts(graph, parts));
  ASSERT_EQ(graphs.size(), 3u);
  EXPECT_EQ(Print(graphs[1]), R"(graph "g_1" opset 28 (%a: f32[4], %x: f32[4]) -> (%b, %e) {
  %b = Exp(%a) : f32[4]
  %e = Exp(%x) : f32[4]
}
)");
  ExpectSame(graph, graphs);
  EXPECT_THAT(SplitIntoParts(graph, {0, 0, 0, 0, 1, 0}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("node \"sum\" (Add)")));
}

TEST_F(PartitionTest, BalancedStages) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester_.Parse(kGraph));
  const std::vector<double> costs = {5, 1, 1, 1, 4, 4};
  const auto cost = [&](const Graph& g, const Node& node) { return costs[&node - g.nodes.data()]; };
  EXPECT_THAT(BalancedStages(graph, 1, cost), ElementsAre(0, 0, 0, 0, 0, 0));
  // 8 and 8; 6, 6 and 4; none can cost less than 5.
  EXPECT_THAT(BalancedStages(graph, 2, cost), ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_THAT(BalancedStages(graph, 3, cost), ElementsAre(0, 0, 1, 1, 1, 2));
  EXPECT_THAT(BalancedStages(graph, 9, cost), ElementsAre(0, 1, 1, 1, 2, 3));
}

TEST_F(PartitionTest, RandomGraphsInEveryWay) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    ASSERT_OK_AND_ASSIGN(const Graph graph, RandomGraph(tester_.registry(), seed));
    const std::vector<int> stages = BalancedStages(graph, 3, [this](const Graph& g, const Node& n) {
      return NodeFlops(g, n, tester_.registry());
    });
    ASSERT_OK_AND_ASSIGN(const std::vector<Graph> in_stages, SplitIntoParts(graph, stages));
    EXPECT_LE(in_stages.size(), 3u);
    ExpectSame(graph, in_stages);
    ASSERT_OK_AND_ASSIGN(
        const std::vector<Graph> by_operator,
        SplitIntoParts(graph, PartsByPredicate(graph, [](const Graph&, const Node& n) {
                         return n.op == "Conv" || n.op == "Relu";
                       })));
    ExpectSame(graph, by_operator);

    PlaceDeviceOptions options;
    options.device_of = [&](const Graph&, const Node& node) -> std::optional<int> {
      if (node.op == "Conv") return 1;
      if (node.op == "Add") return 2;
      return std::nullopt;
    };
    ASSERT_OK_AND_ASSIGN(const PlacedGraph placed, PlaceDevice(graph, options, tester_.context()));
    ASSERT_OK(Verify(placed.graph, tester_.registry(), {.require_types = true}));
    EXPECT_OK(tester_.CheckSameResults(graph, placed.graph, seed));
  }
}

TEST_F(PartitionTest, PlacesAndCopiesOnceToEachDevice) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester_.Parse(R"(graph "g" (%x: f32[4]) -> (%y, %a) {
    const %c: f32[4] = {1, 2, 3, 4}
    %a = Exp(%x)
    %b = Mul(%a, %c)
    %d = Add(%x, %b)
    %y = Neg(%d)
  })"));
  PlaceDeviceOptions options;
  options.device_of = [](const Graph&, const Node& node) -> std::optional<int> {
    if (node.op == "Exp" || node.op == "Add") return 1;
    if (node.op == "Neg") return 0;
    return std::nullopt;
  };
  ASSERT_OK_AND_ASSIGN(const PlacedGraph placed, PlaceDevice(graph, options, tester_.context()));
  EXPECT_EQ(Print(placed.graph), R"(graph "g" opset 28 (%x: f32[4]) -> (%y, %a) {
  %x_at_1 = Identity(%x) : f32[4]
  %a_at_0 = Exp(%x_at_1) : f32[4]
  const %c: f32[4] = {1, 2, 3, 4}
  %b = Mul(%a_at_0, %c) : f32[4]
  %d = Add(%x_at_1, %b) : f32[4]
  %d_at_0 = Identity(%d) : f32[4]
  %y = Neg(%d_at_0) : f32[4]
  %a = Identity(%a_at_0) : f32[4]
}
)");
  EXPECT_THAT(placed.device_of_node, ElementsAre(1, 1, 1, 1, 0, 0, 0));
  EXPECT_THAT(placed.copies, ElementsAre(0, 4, 6));
  EXPECT_OK(tester_.CheckSameResults(graph, placed.graph, 1));
  options.device_of = [](const Graph&, const Node&) { return -1; };
  EXPECT_THAT(PlaceDevice(graph, options, tester_.context()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("device -1")));
}

}  // namespace
}  // namespace slipway
