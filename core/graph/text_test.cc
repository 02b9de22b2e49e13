#include "core/graph/text.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/graph/graph.h"
#include "core/graph/graph_digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

constexpr char kSmall[] = R"(graph "mnist" opset 13 (%x: f32[1, 1, 4, 4]) -> (%y) {
  const %w: f32[2, 1, 1, 1] = {0.5, -1}
  %c = Conv "conv1" (%x, %w, _) {pads = [0, 0, 0, 0], strides = [1, 1]} : f32[1, 2, 4, 4]
  %y = Relu(%c) : f32[1, 2, 4, 4]
}
)";

TEST(GraphTextTest, PrintsWhatItParsed) {
  const auto graph = ParseGraph(kSmall);
  ASSERT_OK(graph.status());
  EXPECT_EQ(Print(*graph), kSmall);
  EXPECT_EQ(graph->name, "mnist");
  ASSERT_EQ(graph->nodes.size(), 2u);
  EXPECT_EQ(graph->nodes[0].name, "conv1");
  EXPECT_EQ(graph->nodes[0].inputs[2], kNoValue);
  EXPECT_EQ(*graph->nodes[0].attributes.FindAs<std::vector<int64_t>>("strides"),
            (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(DisplayName(*graph, graph->nodes[1]), "y");
}

TEST(GraphTextTest, CommentsAndBlanksDoNotCount) {
  const auto graph =
      ParseGraph("# a comment\ngraph \"g\" opset 13(%x)->(%x){# another\n} # #0123\n");
  ASSERT_OK(graph.status());
  EXPECT_EQ(Print(*graph), "graph \"g\" opset 13 (%x) -> (%x) {\n}\n");
  EXPECT_FALSE(graph->values[0].type.has_value());
}

// Every kind of attribute, dtype and odd name in one graph.
Graph EverythingGraph() {
  Graph body;
  body.name = "inner \"body\"\n";
  const ValueId in = body.AddInput("in", TensorType{DataType::kFloat32, {2}});
  const ValueId out = body.AddValue("out", TensorType{DataType::kFloat32, {2}});
  body.nodes.push_back(Node{"", "Relu", {in}, {out}, {}});
  body.outputs = {out};

  Graph graph;
  graph.name = "everything";
  const ValueId x = graph.AddInput("x", TensorType{DataType::kFloat32, {2}});
  const ValueId odd = graph.AddInput("a/b:0 \"quoted\"\xff", std::nullopt);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<ValueId> inputs = {x, kNoValue, odd};
  inputs.push_back(graph.AddConstant(
      "floats", Tensor::Of<float>({2, 4}, {0.1f, -0.0f, inf, -inf, nan, -nan, 1e-45f, 3e38f})));
  inputs.push_back(graph.AddConstant("double", Tensor::Scalar<double>(1.0 / 3)));
  inputs.push_back(graph.AddConstant(
      "i64", Tensor::Of<int64_t>(
                 {2}, {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()})));
  inputs.push_back(
      graph.AddConstant("u64", Tensor::Of<uint64_t>({1}, {std::numeric_limits<uint64_t>::max()})));
  inputs.push_back(graph.AddConstant("i8", Tensor::Of<int8_t>({2}, {-128, 127})));
  inputs.push_back(graph.AddConstant("bools", Tensor::Of<bool>({2}, {true, false})));
  inputs.push_back(graph.AddConstant("empty", Tensor::Zeros(DataType::kInt32, {0, 3})));
  inputs.push_back(graph.AddConstant("half", Tensor::Zeros(DataType::kFloat16, {3})));
  inputs.push_back(graph.AddConstant("same", Tensor::Of<int32_t>({5}, {7, 7, 7, 7, 7})));
  const ValueId y = graph.AddValue("y", TensorType{DataType::kFloat32, {2}});
  const ValueId z = graph.AddValue("_");
  Attributes attributes;
  attributes.Set("int", int64_t{-5});
  attributes.Set("float", 2.0f);
  attributes.Set("negative_infinity", -inf);
  attributes.Set("not_a_number", -nan);
  attributes.Set("string", std::string("tab\tquote\"back\\slash\x01"));
  attributes.Set("ints", std::vector<int64_t>{1, -2});
  attributes.Set("no_ints", std::vector<int64_t>{});
  attributes.Set("floats", std::vector<float>{0.5f, nan, 1e20f});
  attributes.Set("no_floats", std::vector<float>{});
  attributes.Set("strings", std::vector<std::string>{"a", ""});
  attributes.Set("no_strings", std::vector<std::string>{});
  attributes.Set("tensor", Tensor::Of<int64_t>({2}, {1, 2}));
  attributes.Set("body", std::make_shared<const Graph>(body));
  attributes.Set("odd name", int64_t{1});
  graph.nodes.push_back(Node{"the \"node\"", "odd::op", inputs, {y, kNoValue, z}, attributes});
  graph.outputs = {y, z, y};
  return graph;
}

TEST(GraphTextTest, EveryKindOfThingComesBack) {
  const Graph graph = EverythingGraph();
  const std::string text = Print(graph);
  const auto parsed = ParseGraph(text);
  ASSERT_OK(parsed.status()) << text;
  EXPECT_EQ(Print(*parsed), text);
  EXPECT_EQ(DigestOf(*parsed, DigestNames::kIncluded), DigestOf(graph, DigestNames::kIncluded))
      << text;
  EXPECT_TRUE(*parsed == graph) << text;
}

TEST(GraphTextTest, LargeTensorsTravelByDigest) {
  const Graph graph = EverythingGraph();
  ConstantTable table;
  const std::string text = Print(graph, {.max_elements = 2, .elided = &table});
  EXPECT_EQ(table.size(), 3u);  // floats, half, same
  EXPECT_THAT(text, HasSubstr("const %floats: f32[2, 4] = #"));
  EXPECT_THAT(ParseGraph(text).status().message(), HasSubstr("no constant of this digest"));
  const auto parsed = ParseGraph(text, {.constants = &table});
  ASSERT_OK(parsed.status());
  EXPECT_TRUE(*parsed == graph);
}

struct BadText {
  const char* text;
  const char* message;
};

TEST(GraphTextTest, ErrorsSayWhere) {
  const BadText cases[] = {
      {"", "1:1: expected \"graph\""},
      {"graph g", "1:7: expected the graph's name in quotes"},
      {"graph \"g\" opset 0 () -> () {}", "1:17: this is no opset"},
      {"graph \"g\" opset 13 () -> () {", "1:30: expected a value"},
      {"graph \"g\" opset 13 () -> () {} x", "1:32: expected the end"},
      {"graph \"g\" opset 13 () -> (%y) {}", "1:27: \"y\" is not defined"},
      {"graph \"g\" opset 13 (%x, %x) -> () {}", "1:25: \"x\" is defined twice"},
      {"graph \"g\" opset 13 (%x: f32[1) -> () {}", "expected \",\""},
      {"graph \"g\" opset 13 (%x: f33[1]) -> () {}", "1:25: "},
      {"graph \"g\" opset 13 (%x: f32[-1]) -> () {}", "1:25: "},
      {"graph \"g\" opset 13 (%x: f32[2000000000, 2000000000, 2000000000]) -> () {}", "1:25: "},
      {"graph \"g\" opset 13 () -> () {\n  %y = Relu(%x)\n}", "2:13: \"x\" is not defined"},
      {"graph \"g\" opset 13 () -> () {\n const %c: f32[2] = {1}\n}", "2:21: "},
      {"graph \"g\" opset 13 () -> () {\n const %c: i8[1] = {128}\n}", "2:21: \"128\" is not"},
      {"graph \"g\" opset 13 () -> () {\n const %c: f16[1] = {1}\n}", "written in hex"},
      {"graph \"g\" opset 13 () -> () {\n const %c: f16[1] = hex \"0g00\"\n}", "other digits"},
      {"graph \"g\" opset 13 () -> () {\n %y = A() {a = []}\n}", "needs its kind"},
      {"graph \"g\" opset 13 () -> () {\n %y = A() {a = [1, 2.0]}\n}", "mixes"},
      {"graph \"g\" opset 13 () -> () {\n %y = A() {a = 1, a = 2}\n}", "there twice"},
      {"graph \"g\" opset 13 () -> () {\n %y = A() {a = 1.5.5}\n}", "is not a 32-bit float"},
      {"graph \"unfinished", "1:7: the string does not end"},
      {"graph \"\\q\"", "may follow a backslash"},
      {"graph \"g\" opset 13 () -> () { ; }", "unexpected character 0x3b"},
  };
  for (const BadText& bad : cases) {
    SCOPED_TRACE(bad.text);
    const auto graph = ParseGraph(bad.text);
    ASSERT_FALSE(graph.ok());
    EXPECT_THAT(graph.status().message(), HasSubstr(bad.message));
  }
}

TEST(GraphTextTest, NestingAndSplatsAreBounded) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) {
    deep += "graph \"g\" opset 13 () -> () { %y = A() {b = ";
  }
  EXPECT_EQ(ParseGraph(deep).status().code(), absl::StatusCode::kResourceExhausted);

  const std::string splat = "graph \"g\" opset 13 () -> () { const %c: f32[2000000000] = splat 1 }";
  EXPECT_EQ(ParseGraph(splat).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ParseGraph("graph \"g\" opset 13 () -> () { const %c: f32[10] = splat 1 }",
                       {.max_splat_bytes = 39})
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);

  EXPECT_EQ(ParseGraph(absl::StrCat("graph \"", std::string(5000, 'x'), "\"")).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace slipway
