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
    return absl::StatusOr<std::vector<ValueType>>({view.input_type(0)});
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
      "graph \"g\" (%x: f32[2]) -> (%b) {\n"
      "  %a = Same(%x) : f32[2]\n  %b = Same(%a) : f32[2]\n}");
}

TEST(VerifierTest, SymbolsAreBoundedAndKnown) {
  EXPECT_OK(
      VerifyText("graph \"g\" [b in 1..9] (%x: f32[b, ?]) -> (%y) {\n"
                 "  %y = Same(%x) : f32[?, 3]\n}"));
  EXPECT_THAT(VerifyText("graph \"g\" [b in 1..9, b in 1..9] () -> () {}").message(),
              HasSubstr("graph \"g\": symbol \"b\" is there twice"));
  EXPECT_THAT(VerifyText("graph \"g\" [b in 2..1] () -> () {}").message(),
              HasSubstr("symbol \"b\" lies in 2..1"));
  EXPECT_THAT(VerifyText("graph \"g\" [b$ in 1..2] () -> () {}").message(),
              HasSubstr("cannot be the name of a symbol"));
  EXPECT_THAT(VerifyText("graph \"g\" [b in 1..9] (%x: f32[2, c]) -> () {}").message(),
              HasSubstr("value \"x\": dimension 1 of f32[2, c]: there is no symbol \"c\""));
}

TEST(VerifierTest, TypesMayNotContradict) {
  const auto with_output = [](const std::string& type) {
    return VerifyText(
        "graph \"g\" [b in 1..9] (%x: f32[b, 3]) -> (%y) {\n  %y = Same(%x) : " + type + "\n}");
  };
  EXPECT_OK(with_output("f32[b, 3]"));
  EXPECT_OK(with_output("f32[4, 3]"));
  EXPECT_OK(with_output("f32[?, ?]"));
  for (const char* type : {"f32[b, 4]", "f32[b + 1, 3]", "f32[b]", "i32[b, 3]"}) {
    EXPECT_THAT(with_output(type).message(), HasSubstr("makes f32[b, 3] but \"y\" is declared"))
        << type;
  }
}

TEST(VerifierTest, ABodysSymbolsAreThoseAroundIt) {
  const auto with_body = [](const std::string& symbols) {
    return VerifyText(
        "graph \"g\" [b in 1..9] (%x: f32[b]) -> (%y) {\n"
        "  %y = Group(%x) {body = graph \"i\" " +
        symbols + " (%p) -> (%p) {}}\n}");
  };
  EXPECT_OK(with_body("[b in 1..9]"));
  EXPECT_OK(with_body(""));
  EXPECT_THAT(with_body("[b in 1..8]").message(), HasSubstr("lacks or bounds otherwise"));
  EXPECT_THAT(with_body("[c in 1..9]").message(), HasSubstr("has the symbol \"c\""));
}

TEST(VerifierTest, AQuantizedConstantHasTheTypeOfItsTensor) {
  Graph graph = *ParseGraph(
      "graph \"g\" () -> (%c) {\n"
      "  const %c: i8[2] quantized {axis = 0, scales = [0.5, 1.0], zeros = [0, 1]} = {1, 2}\n}");
  EXPECT_OK(Verify(graph, TestRegistry()));
  Quantization quantization = *graph.values[0].type->quantization();
  quantization.scales[1] = 0;
  graph.values[0].type->set_quantization(quantization);
  EXPECT_THAT(Verify(graph, TestRegistry()).message(),
              HasSubstr("value \"c\": quantization: scale 0 is not"));
  graph.values[0].type = ValueType(DataType::kInt8, {Dimension()});
  EXPECT_THAT(Verify(graph, TestRegistry()).message(),
              HasSubstr("constant \"c\" has another type than its tensor"));
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
    return "graph \"g\" (%x: f32[2]) -> (%y) { %y = " + node + " }";
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
  const std::string wrong = "graph \"g\" (%x: f32[2]) -> (%y) { %y = Same(%x) : f32[3] }";
  EXPECT_THAT(VerifyText(wrong).message(), HasSubstr("makes f32[2] but \"y\" is declared f32[3]"));
  const std::string untyped = "graph \"g\" (%x) -> (%y) { %y = Same(%x) }";
  EXPECT_OK(VerifyText(untyped));
  EXPECT_FALSE(VerifyText(untyped, {.require_types = true}).ok());
}

TEST(VerifierTest, ChecksBodiesAndOpsets) {
  const std::string bad_body =
      "graph \"g\" (%x: f32[2]) -> (%y) {\n"
      "  %y = Group(%x) {body = graph \"b\" (%i: f32[1]) -> (%o) { %o = Nope(%i) }}\n}";
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
