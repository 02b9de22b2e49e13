#include "core/reference/work.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/graph/text.h"
#include "core/operators/register_all.h"
#include "core/reference/reference.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

class WorkTest : public ::testing::Test {
 protected:
  // Of the graph's one node.
  int64_t Work(absl::string_view text) {
    const absl::StatusOr<Graph> graph = ParseGraph(text);
    if (!graph.ok()) ADD_FAILURE() << graph.status();
    const Node& node = graph->nodes[0];
    const absl::StatusOr<NodeView> view = NodeView::Create(*graph, node, registry_);
    const absl::StatusOr<std::vector<ValueType>> types = InferNodeTypes(*view);
    if (!types.ok()) ADD_FAILURE() << types.status();
    return WorkOf(*view, *types);
  }

  const OperatorRegistry registry_ = StandardOperators();
};

// Within what beginning takes.
void ExpectAbout(int64_t work, int64_t expected) {
  EXPECT_GE(work, expected);
  EXPECT_LE(work, expected + expected / 4 + 1000);
}

TEST_F(WorkTest, IsWhatKernelsVisit) {
  ExpectAbout(Work("graph \"g\" (%x: f32[1000, 100]) -> (%y) { %y = Relu(%x) }"), 200'000);
  ExpectAbout(Work("graph \"g\" (%x: f32[1000, 100]) -> (%y) { %y = ReduceSum(%x) }"), 100'001);
  ExpectAbout(Work(R"(graph "g" (%a: f32[400, 500], %b: f32[500, 600]) -> (%y) {
                        %y = MatMul(%a, %b)
                      })"),
              400 * 500 * 600);
  ExpectAbout(Work(R"(graph "g" (%x: f32[1, 1, 100, 100]) -> (%y) {
                        %y = MaxPool(%x) {kernel_shape = [50, 50]}
                      })"),
              51 * 51 * 50 * 50);
  ExpectAbout(Work("graph \"g\" (%x: f32[7, 100, 100]) -> (%y) { %y = Det(%x) }"), 7'000'000);
}

// Nothing says how its outputs hang on its inputs.
TEST_F(WorkTest, OfWhatIsNotKnownIsTheMost) {
  ExpectAbout(Work("graph \"g\" (%x: f32[100, 200], %y: f32[200, 300]) -> (%z) {"
                   "  %z = Einsum(%x, %y) {equation = \"ij,jk->ik\"}"
                   "}"),
              int64_t{80'000} * 30'000);
  EXPECT_EQ(Work(R"(graph "g" (%x: f32[1, 1, 8, 8], %r: f32[1, 4], %b: i64[1]) -> (%y) {
                      %y = RoiAlign(%x, %r, %b)
                    })"),
            kBoundlessWork);
}

TEST_F(WorkTest, DoesNotOverflow) {
  EXPECT_EQ(Work(R"(graph "g" (%a: u8[1048576, 1073741824], %b: u8[1073741824, 1048576]) -> (%y) {
                      %y = MatMulInteger(%a, %b)
                    })"),
            kBoundlessWork);
}

class LimitedWorkTest : public WorkTest {
 protected:
  // What is left of so much, once the graph's one node is evaluated with zeros.
  absl::StatusOr<int64_t> Left(absl::string_view text, int64_t work) {
    const absl::StatusOr<Graph> graph = ParseGraph(text);
    if (!graph.ok()) return graph.status();
    std::vector<Tensor> inputs;
    for (const ValueId id : graph->nodes[0].inputs) {
      const Value& value = graph->values[id];
      inputs.push_back(value.constant.has_value() ? *value.constant
                                                  : *Tensor::Create(value.type->tensor()));
    }
    const absl::Status status =
        Reference(registry_).EvaluateNode(*graph, graph->nodes[0], inputs, work).status();
    if (!status.ok()) return status;
    return work;
  }
};

constexpr absl::string_view kProduct =
    "graph \"g\" (%a: f32[64, 64]) -> (%y) { %y = MatMul(%a, %a) }";
// Of 100 turns, each of which makes a product.
constexpr absl::string_view kLoop = R"(graph "g" (%a: f32[64, 64]) -> (%y) {
  const %n: i64[] = {100}
  const %go: bool[] = {true}
  %y = Loop(%n, %go, %a) {
    body = graph "turn" (%i, %also, %x) -> (%also, %z) { %z = MatMul(%x, %x) }
  }
})";

TEST_F(LimitedWorkTest, IsTakenOff) {
  constexpr int64_t kEach = 64 * 64 * 64;
  ASSERT_OK_AND_ASSIGN(const int64_t left, Left(kProduct, 1'000'000));
  ExpectAbout(1'000'000 - left, kEach);
  ASSERT_OK_AND_ASSIGN(const int64_t left_of_turns, Left(kLoop, 100'000'000));
  ExpectAbout(100'000'000 - left_of_turns, 100 * kEach);
}

TEST_F(LimitedWorkTest, IsRefusedWhereItIsTooMuch) {
  EXPECT_THAT(Left(kProduct, 100'000),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("node \"y\" (MatMul) takes 262400 steps")));
  EXPECT_THAT(Left(kLoop, 1'000'000),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("(MatMul) takes")));
}

}  // namespace
}  // namespace slipway
