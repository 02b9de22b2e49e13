#include "core/compiler/evaluated_graph.h"

#include <string>
#include <vector>

#include "core/compiler/own_operator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EvaluatedGraphTest : public ::testing::Test {
 protected:
  absl::StatusOr<Graph> Evaluate(const Graph& graph, const std::vector<NamedTensor>& inputs) {
    return EvaluatedGraph(graph, inputs, known_.registry, reference_);
  }
  // y = x + x, and z = y * w
  static Graph Sums(int64_t n) {
    Graph graph;
    const ValueType type(TensorType{DataType::kFloat32, {n}});
    const ValueId x = graph.AddInput("x", type);
    const ValueId w = graph.AddInput("w", type);
    const ValueId y = graph.AddValue("y");
    const ValueId z = graph.AddValue("z");
    graph.nodes.push_back({.name = "add", .op = "Add", .inputs = {x, x}, .outputs = {y}});
    graph.nodes.push_back({.name = "mul", .op = "Mul", .inputs = {y, w}, .outputs = {z}});
    graph.outputs = {z, y};
    return graph;
  }
  static NamedTensor Input(const std::string& name, const std::vector<float>& values) {
    return {name, Tensor::Of<float>({static_cast<int64_t>(values.size())}, values)};
  }

  const KnownOperators known_ = *KnowOperators({});
  const Reference reference_{known_.registry, known_.kernels};
};

TEST_F(EvaluatedGraphTest, GivesOutputsAsConstants) {
  ASSERT_OK_AND_ASSIGN(const Graph graph,
                       Evaluate(Sums(2), {Input("w", {10, 100}), Input("x", {1, 2})}));
  EXPECT_TRUE(graph.inputs.empty());
  EXPECT_TRUE(graph.nodes.empty());
  ASSERT_EQ(graph.outputs.size(), 2u);
  const Value& z = graph.value(graph.outputs[0]);
  EXPECT_EQ(z.name, "z");
  EXPECT_THAT(z.constant->values<float>(), ElementsAre(20, 400));
  EXPECT_EQ(graph.value(graph.outputs[1]).name, "y");
  EXPECT_THAT(graph.value(graph.outputs[1]).constant->values<float>(), ElementsAre(2, 4));
}

TEST_F(EvaluatedGraphTest, NamesWhatDoesNotFit) {
  using Code = absl::StatusCode;
  const NamedTensor x = Input("x", {1, 2});
  const NamedTensor w = Input("w", {1, 2});
  EXPECT_THAT(Evaluate(Sums(2), {x}), StatusIs(Code::kInvalidArgument, HasSubstr("input \"w\"")));
  EXPECT_THAT(Evaluate(Sums(2), {x, w, Input("v", {1})}),
              StatusIs(Code::kInvalidArgument, HasSubstr("no input \"v\"")));
  EXPECT_THAT(Evaluate(Sums(2), {x, x, w}),
              StatusIs(Code::kInvalidArgument, HasSubstr("given twice")));
  EXPECT_THAT(Evaluate(Sums(2), {x, Input("w", {1, 2, 3})}),
              StatusIs(Code::kInvalidArgument, HasSubstr("must be f32[2], not f32[3]")));
}

TEST_F(EvaluatedGraphTest, IsBoundedByWork) {
  Graph graph;
  // 2^13 cubed is 2^39 multiplications.
  const ValueType type(TensorType{DataType::kFloat32, {8192, 8192}});
  const ValueId x = graph.AddInput("x", type);
  const ValueId y = graph.AddValue("y");
  graph.nodes.push_back({.name = "product", .op = "MatMul", .inputs = {x, x}, .outputs = {y}});
  graph.outputs = {y};
  EXPECT_THAT(Evaluate(graph, {{"x", Tensor::Zeros(DataType::kFloat32, {8192, 8192})}}),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("\"product\" (MatMul)")));
}

}  // namespace
}  // namespace slipway
