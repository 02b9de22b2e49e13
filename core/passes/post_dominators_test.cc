#include "core/passes/post_dominators.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/graph/text.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using Nodes = std::vector<NodeId>;

Nodes DominatorsOf(absl::string_view text) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_OK(graph);
  return graph.ok() ? ImmediatePostDominators(*graph) : Nodes();
}

TEST(PostDominators, OfAChain) {
  EXPECT_EQ(DominatorsOf(R"(
    graph "g" (%x: f32[1]) -> (%c) {
      %a = Relu(%x)
      %b = Relu(%a)
      %c = Relu(%b)
    })"),
            (Nodes{1, 2, kNoNode}));
}

TEST(PostDominators, OfADiamondIsWhereItEnds) {
  EXPECT_EQ(DominatorsOf(R"(
    graph "g" (%x: f32[1]) -> (%f) {
      %a = Relu(%x)
      %b = Relu(%a)
      %c = Relu(%a)
      %d = Relu(%c)
      %e = Add(%b, %d)
      %f = Relu(%e)
    })"),
            (Nodes{4, 4, 3, 4, 5, kNoNode}));
}

TEST(PostDominators, OutputsEndEveryPath) {
  EXPECT_EQ(DominatorsOf(R"(
    graph "g" (%x: f32[1]) -> (%b, %c) {
      %a = Relu(%x)
      %b = Relu(%a)
      %c = Relu(%b)
      %dead = Relu(%a)
    })"),
            (Nodes{kNoNode, kNoNode, kNoNode, kNoNode}));
}

TEST(PostDominators, PathsThatNeverMeetHaveNone) {
  EXPECT_EQ(DominatorsOf(R"(
    graph "g" (%x: f32[1]) -> (%b, %c) {
      %a = Relu(%x)
      %b = Relu(%a)
      %c = Relu(%a)
    })"),
            (Nodes{kNoNode, kNoNode, kNoNode}));
}

}  // namespace
}  // namespace slipway
