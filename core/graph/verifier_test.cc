#include "core/graph/verifier.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/graph/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

// "Same" gives each input's type back, "Twice" takes an int attribute, "Group" a body.
OperatorRegistry TestRegistry() {
  OperatorRegistry registry;
  OperatorSchema same;
  same.name = "Same";
  same.max_inputs = 2;
  same.type_rule = [](const NodeView& view) {
    return absl::StatusOr<std::vector<TensorType>>({view.input_type(0)});
  };
  EXPECT_OK(registry.Add(same));
  OperatorSchema twice = same;
  twice.name = "Twice";
  twice.attributes = {{"times", AttributeKind::kInt, true}};
  EXPECT_OK(registry.Add(twice));
  OperatorSchema group = same;
  group.name = "Group";
  group.attributes = {{"body", AttributeKind::kGraph, true}};
  EXPECT_OK(registry.Add(group));
  return registry;
}

absl::Status VerifyText(const std::string& text, const VerifyOptions& options = {}) {
  const auto graph = ParseGraph(text);
  if (!graph.ok()) return graph.status();
  return Verify(*graph, TestRegistry(), options);
}

Graph Chain() {
  return *ParseGraph(
      "graph \"g\" opset 13 (%x: f32[2]) -> (%b) {\n"
      "  %a = Same(%x) : f32[2]\n  %b = Same(%a) : f32[2]\n}");
}

TEST(VerifierTest, NamesAreUtf8) {
  Graph graph = Chain();
  graph.nodes[0].name = "conv\xff";
  EXPECT_THAT(Verify(graph, TestRegistry()),
              testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                HasSubstr("the name of a node is not UTF-8: \"conv?\"")));
}

TEST(VerifierTest, AcceptsAGoodGraph) {
  EXPECT_OK(Verify(Chain(), TestRegistry()));
  EXPECT_OK(Verify(Chain(), TestRegistry(), {.require_types = true}));
}

TEST(VerifierTest, NamesNodesOutOfOrder) {
  Graph graph = Chain();
  std::swap(graph.nodes[0], graph.nodes[1]);
  const absl::Status status = Verify(graph, TestRegistry());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("node \"b\" (Same) reads \"a\""));
  EXPECT_THAT(status.message(), HasSubstr("cyclic or not in order"));
}

TEST(VerifierTest, RefusesIdsThatDoNotExist) {
  Graph graph = Chain();
  graph.nodes[1].inputs[0] = 99;
  EXPECT_THAT(Verify(graph, TestRegistry()).message(), HasSubstr("reads value 99"));
  graph = Chain();
  graph.outputs = {-7};
  EXPECT_THAT(Verify(graph, TestRegistry()).message(), HasSubstr("graph output -7"));
  graph = Chain();
  graph.nodes[1].outputs[0] = graph.nodes[0].outputs[0];
  EXPECT_THAT(Verify(graph, TestRegistry()).message(), HasSubstr("defined already"));
  graph = Chain();
  graph.AddValue("loose");
  graph.outputs = {3};
  EXPECT_THAT(Verify(graph, TestRegistry()).message(), HasSubstr("made by no node"));
}

TEST(VerifierTest, RefusesBadNames) {
  Graph graph = Chain();
  graph.values[1].name = "x";
  EXPECT_THAT(Verify(graph, TestRegistry()).message(), HasSubstr("two values are named \"x\""));
  graph.values[1].name = "";
  EXPECT_THAT(Verify(graph, TestRegistry()).message(), HasSubstr("no name"));
  graph.values[1].name = std::string(5000, 'n');
  EXPECT_EQ(Verify(graph, TestRegistry()).code(), absl::StatusCode::kResourceExhausted);
}

TEST(VerifierTest, RefusesWhatTheSchemaDoesNotAllow) {
  const auto body = [](const std::string& node) {
    return "graph \"g\" opset 13 (%x: f32[2]) -> (%y) { %y = " + node + " }";
  };
  EXPECT_EQ(VerifyText(body("Unknown(%x)")).code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(VerifyText(body("Same()")).message(), HasSubstr("has 0 inputs where 1 to 2"));
  EXPECT_THAT(VerifyText(body("Same(_)")).message(), HasSubstr("input 0 is omitted"));
  EXPECT_THAT(VerifyText(body("Twice(%x)")).message(), HasSubstr("lacks the attribute \"times\""));
  EXPECT_THAT(VerifyText(body("Twice(%x) {times = 1.0}")).message(),
              HasSubstr("is of kind float instead of int"));
  EXPECT_THAT(VerifyText(body("Twice(%x) {times = 1, more = 2}")).message(),
              HasSubstr("unknown attribute \"more\""));
  EXPECT_OK(VerifyText(body("Twice \"n\" (%x) {times = 1}")));
}

TEST(VerifierTest, ComparesTypesWithTheTypeRules) {
  const std::string wrong = "graph \"g\" opset 13 (%x: f32[2]) -> (%y) { %y = Same(%x) : f32[3] }";
  EXPECT_THAT(VerifyText(wrong).message(), HasSubstr("makes f32[2] but \"y\" is declared f32[3]"));
  const std::string untyped = "graph \"g\" opset 13 (%x) -> (%y) { %y = Same(%x) }";
  EXPECT_OK(VerifyText(untyped));
  EXPECT_FALSE(VerifyText(untyped, {.require_types = true}).ok());
}

TEST(VerifierTest, ChecksBodiesAndOpsets) {
  const std::string bad_body =
      "graph \"g\" opset 13 (%x: f32[2]) -> (%y) {\n"
      "  %y = Group(%x) {body = graph \"b\" opset 13 (%i: f32[1]) -> (%o) { %o = Nope(%i) }}\n}";
  EXPECT_THAT(VerifyText(bad_body).message(), HasSubstr("node \"y\" (Group) attribute \"body\""));
  EXPECT_EQ(VerifyText("graph \"g\" opset 12 () -> () {}").code(),
            absl::StatusCode::kUnimplemented);
  Graph graph = Chain();
  graph.nodes[0].op = "Group";
  graph.nodes[0].attributes.Set("body", std::shared_ptr<const Graph>());
  EXPECT_THAT(Verify(graph, TestRegistry()).message(), HasSubstr("holds no graph"));
}

}  // namespace
}  // namespace slipway
