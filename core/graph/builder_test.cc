#include "core/graph/builder.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/graph/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

// "Same" gives its first input's type to two outputs; "Sized" makes [n] of a constant n.
OperatorRegistry TestRegistry() {
  OperatorRegistry registry;
  OperatorSchema same;
  same.name = "Same";
  same.max_inputs = 2;
  same.max_outputs = 2;
  same.type_rule = [](const NodeView& view) -> absl::StatusOr<std::vector<ValueType>> {
    return std::vector<ValueType>(2, view.input_type(0));
  };
  EXPECT_OK(registry.Add(same));
  OperatorSchema sized;
  sized.name = "Sized";
  sized.attributes = {{"times", AttributeKind::kInt, false, Attribute(int64_t{1})}};
  sized.type_rule = [](const NodeView& view) -> absl::StatusOr<std::vector<ValueType>> {
    const auto n = view.RequireConstant(0, "size");
    if (!n.ok()) return n.status();
    return std::vector<ValueType>{
        TensorType{DataType::kFloat32, {(*n)->values<int64_t>()[0] * view.Int("times")}}};
  };
  EXPECT_OK(registry.Add(sized));
  return registry;
}

TEST(GraphBuilderTest, NamesAndTypesValues) {
  const OperatorRegistry registry = TestRegistry();
  GraphBuilder b("built", registry);
  const ValueId x = b.Input("x", DataType::kFloat32, {2});
  const ValueId n = b.Constant("n", Tensor::Scalar<int64_t>(3));
  const ValueId s = b.Add("Sized", {n}, {{"times", 2}});
  const std::vector<ValueId> two = b.AddMany("Same", {x, kNoValue}, 2);
  b.Output(b.AddNamed("last", "Same", {two[1], s}));
  EXPECT_EQ(ToString(*b.type(s)), "f32[6]");
  const auto graph = std::move(b).Build();
  ASSERT_OK(graph.status());
  EXPECT_EQ(Print(*graph),
            "graph \"built\" opset 28 (%x: f32[2]) -> (%last) {\n"
            "  const %n: i64[] = {3}\n"
            "  %Sized = Sized(%n) {times = 2} : f32[6]\n"
            "  %Same, %Same_1 = Same(%x, _) : f32[2], f32[2]\n"
            "  %last = Same(%Same_1, %Sized) : f32[2]\n"
            "}\n");
}

TEST(GraphBuilderTest, LeavesOpenWhatHangsOnUnknownValues) {
  const OperatorRegistry registry = TestRegistry();
  GraphBuilder b("open", registry);
  const ValueId s = b.Add("Sized", {b.Input("n", DataType::kInt64, {})});
  EXPECT_EQ(b.type(s), nullptr);
  const ValueId same = b.Add("Same", {s});
  EXPECT_EQ(b.type(same), nullptr);
  b.Output(same);
  EXPECT_OK(std::move(b).Build().status());
}

TEST(GraphBuilderTest, KeepsTheFirstError) {
  const OperatorRegistry registry = TestRegistry();
  GraphBuilder b("bad", registry);
  b.Output(b.Add("Nothing", {b.Add("Same", {7})}));
  EXPECT_THAT(std::move(b).Build().status().message(), HasSubstr("reads value 7"));
}

TEST(OperatorRegistryTest, RefusesHalfSchemasAndDoubles) {
  OperatorRegistry registry = TestRegistry();
  EXPECT_EQ(registry.Add(OperatorSchema{.name = "Same"}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(registry.Add(*registry.Find("Same")).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(registry.Get("Other").status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(registry.Names(), ::testing::ElementsAre("Same", "Sized"));
}

TEST(OperatorRegistryTest, ViewsFillDefaultsIn) {
  const OperatorRegistry registry = TestRegistry();
  const Graph graph =
      *ParseGraph("graph \"g\" opset 28 (%n: i64[]) -> () { %y = Sized \"named\" (%n) }");
  const auto view = NodeView::Create(graph, graph.nodes[0], registry);
  ASSERT_OK(view.status());
  EXPECT_EQ(view->Int("times"), 1);
  EXPECT_FALSE(view->has("other"));
  EXPECT_TRUE(view->has_output(0));
  EXPECT_FALSE(view->has_output(1));
  EXPECT_EQ(view->Error("fails").message(), "node \"named\" (Sized): fails");
  EXPECT_EQ(InferNodeTypes(*view).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace slipway
