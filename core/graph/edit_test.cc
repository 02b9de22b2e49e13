#include "core/graph/edit.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Values: x 0, w 1, a 2, b 3, c 4.
Graph Diamond() {
  return *ParseGraph(
      "graph \"g\" opset 28 (%x) -> (%c, %a) {\n"
      "  const %w: f32[] = {1}\n"
      "  %a = A(%x, %w)\n  %b = B(%x, _)\n  %c = C(%a, %b, %a)\n}");
}

TEST(EditTest, KnowsProducersUsersAndOutputs) {
  const Graph graph = Diamond();
  EXPECT_THAT(Producers(graph), ElementsAre(kNoNode, kNoNode, 0, 1, 2));
  EXPECT_THAT(Users(graph), ElementsAre(ElementsAre(0, 1), ElementsAre(0), ElementsAre(2, 2),
                                        ElementsAre(2), ElementsAre()));
  EXPECT_THAT(OutputFlags(graph), ElementsAre(false, false, true, false, true));
}

TEST(EditTest, ReplacesUses) {
  Graph graph = Diamond();
  ReplaceUses(graph, 2, 3);
  EXPECT_THAT(graph.nodes[2].inputs, ElementsAre(3, 3, 3));
  EXPECT_THAT(graph.outputs, ElementsAre(4, 3));
  EXPECT_THAT(graph.nodes[0].outputs, ElementsAre(2));

  graph = Diamond();
  ReplaceUses(graph, std::vector<ValueId>{0, 1, 3, 0, 4});  // a -> b -> x
  EXPECT_THAT(graph.nodes[2].inputs, ElementsAre(0, 0, 0));
  EXPECT_THAT(graph.outputs, ElementsAre(4, 0));
}

TEST(EditTest, DropsUnusedValuesAndRenumbers) {
  Graph graph = Diamond();
  graph.nodes.erase(graph.nodes.begin());  // Nothing makes a: it stays, since it is read.
  graph.nodes[1].inputs = {3};
  graph.outputs = {4};
  DropUnusedValues(graph);
  EXPECT_EQ(Print(graph),
            "graph \"g\" opset 28 (%x) -> (%c) {\n  %b = B(%x, _)\n  %c = C(%b)\n}\n");
}

TEST(EditTest, SortsAndKeepsTheOldOrderWhereItCan) {
  Graph graph = Diamond();
  const Graph sorted = graph;
  ASSERT_OK(SortTopologically(graph));
  EXPECT_TRUE(graph == sorted);
  std::swap(graph.nodes[0], graph.nodes[2]);  // c, b, a
  ASSERT_OK(SortTopologically(graph));
  EXPECT_EQ(graph.nodes[0].op, "B");
  EXPECT_EQ(graph.nodes[1].op, "A");
  EXPECT_EQ(graph.nodes[2].op, "C");
}

TEST(EditTest, NamesANodeOnACycle) {
  Graph graph = Diamond();
  graph.nodes[0].inputs[0] = 4;
  const absl::Status status = SortTopologically(graph);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("node \"a\" (A) is on or behind a cycle"));
}

TEST(EditTest, NamesAreFresh) {
  const Graph graph = Diamond();
  UniqueNames names(graph);
  EXPECT_EQ(names.Make("new"), "new");
  EXPECT_EQ(names.Make("new"), "new_1");
  EXPECT_EQ(names.Make("a"), "a_1");
  EXPECT_EQ(names.Make("new_1"), "new_1_1");
  EXPECT_EQ(names.Make(""), "_1");
}

}  // namespace
}  // namespace slipway
