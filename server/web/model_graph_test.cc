#include "server/web/model_graph.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::web {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ModelGraphTest, HasNodesAndValuesWithoutWhatConstantsHold) {
  const std::string digest = "#" + std::string(64, '0') + "/864";
  ASSERT_OK_AND_ASSIGN(const v1::ModelGraph graph, DescribeGraph(R"(
graph "small" opset 28 (%x: f32[1, 3, 8, 8]) -> (%y, %x) {
  const %w: f32[8, 3, 3, 3] = )" + digest + R"(
  %c = Conv "conv1" (%x, %w, _) {pads = [1, 1, 1, 1]} : f32[1, 8, 8, 8]
  %y = Relu(%c) : ?
}
)"));
  ASSERT_EQ(graph.inputs_size(), 1);
  EXPECT_EQ(graph.inputs(0).name(), "x");
  EXPECT_EQ(graph.inputs(0).type(), "f32[1, 3, 8, 8]");
  ASSERT_EQ(graph.nodes_size(), 2);
  const v1::ModelGraph::Node& conv = graph.nodes(0);
  EXPECT_EQ(conv.name(), "conv1");
  EXPECT_EQ(conv.op(), "Conv");
  EXPECT_THAT(conv.inputs(), ElementsAre("x"));
  ASSERT_EQ(conv.constants_size(), 1);
  EXPECT_EQ(conv.constants(0).name(), "w");
  EXPECT_EQ(conv.constants(0).type(), "f32[8, 3, 3, 3]");
  EXPECT_EQ(conv.outputs(0).type(), "f32[1, 8, 8, 8]");
  EXPECT_EQ(graph.nodes(1).name(), "y") << "after its first output, where it has no name";
  EXPECT_EQ(graph.nodes(1).outputs(0).type(), "");
  EXPECT_THAT(graph.outputs(), ElementsAre("y", "x"));
}

TEST(ModelGraphTest, RefusesWhatIsNotOneGraph) {
  const auto message = [](absl::string_view text) {
    const absl::Status status = DescribeGraph(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    return std::string(status.message());
  };
  EXPECT_THAT(message("graph \"g\" () -> () {\n}\narena 64 bytes"), HasSubstr("nothing else: 3:1"));
  EXPECT_THAT(message(std::string(1 + (1 << 20), ' ')), HasSubstr("at most 1048576 are drawn"));
  EXPECT_THAT(message("graph \"g\" () -> () {\nconst %c: f32[4000000] = splat 1.0\n}"),
              HasSubstr("limit of 1048576 bytes"));
}

}  // namespace
}  // namespace slipway::web
