#include "core/graph/text.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
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

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kSmall[] = R"(graph "mnist" opset 28 (%x: f32[1, 1, 4, 4]) -> (%y) {
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

TEST(GraphTextTest, WithoutAnOpsetItIsTheCurrentOne) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, ParseGraph("graph \"g\" (%x) -> (%x) {}"));
  EXPECT_EQ(graph.opset, kOpset);
  EXPECT_EQ(Print(graph), "graph \"g\" opset 28 (%x) -> (%x) {\n}\n");
}

TEST(GraphTextTest, CommentsAndBlanksDoNotCount) {
  const auto graph =
      ParseGraph("# a comment\ngraph \"g\" opset 28(%x)->(%x){# another\n} # #0123\n");
  ASSERT_OK(graph.status());
  EXPECT_EQ(Print(*graph), "graph \"g\" opset 28 (%x) -> (%x) {\n}\n");
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

TEST(GraphTextTest, StringsAreQuoted) {
  const char* const kText =
      "graph \"g\" (%x: string[2]) -> (%y) {\n"
      "  const %c: string[2, 1] = {\"a\\\"\", \"\\xff\\x00\"}\n"
      "  const %none: string[0] = {}\n";
  const std::string whole = std::string(kText) + "  %y = Add(%x, %c, %none)\n}\n";
  ASSERT_OK_AND_ASSIGN(const Graph graph, ParseGraph(whole));
  const std::string printed = Print(graph);
  EXPECT_THAT(printed, HasSubstr("const %c: string[2, 1] = {\"a\\\"\", \"\\xff\\x00\"}"));
  ASSERT_OK_AND_ASSIGN(const Graph again, ParseGraph(printed));
  EXPECT_EQ(again, graph);
  EXPECT_FALSE(ParseGraph("graph \"g\" () -> () {\nconst %c: string[2] = {\"a\"}\n}").ok());
  EXPECT_FALSE(ParseGraph("graph \"g\" () -> () {\nconst %c: string[1] = {1}\n}").ok());
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

TEST(GraphTextTest, UnknownDigestsMayStandForZeros) {
  const std::string digest = absl::StrCat("#", std::string(64, 'a'), "/8");
  const auto text = [&](absl::string_view type) {
    return absl::StrCat("graph \"g\" () -> (%c) {\nconst %c: ", type, " = ", digest, "\n}");
  };
  const auto graph = ParseGraph(text("f32[2]"), {.zeros_for_unknown = true});
  ASSERT_OK(graph.status());
  const Tensor& zeros = *graph->values[0].constant;
  EXPECT_TRUE(zeros.is_deferred());
  EXPECT_THAT(zeros.values<float>(), ElementsAre(0, 0));
  // Nobody asks for their bytes.
  EXPECT_OK(ParseGraph(text("f32[2000000000, 10]"), {.zeros_for_unknown = true}).status());
  EXPECT_THAT(ParseGraph(text("string[2]"), {.zeros_for_unknown = true}).status().message(),
              HasSubstr("strings have no zeros"));
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
      {"graph \"g\" opset 28 () -> () {", "1:30: expected a value"},
      {"graph \"g\" opset 28 () -> () {} x", "1:32: expected the end"},
      {"graph \"g\" opset 28 () -> (%y) {}", "1:27: \"y\" is not defined"},
      {"graph \"g\" opset 28 (%x, %x) -> () {}", "1:25: \"x\" is defined twice"},
      {"graph \"g\" opset 28 (%x: f32[1) -> () {}", "expected \",\""},
      {"graph \"g\" opset 28 (%x: f33[1]) -> () {}", "1:25: "},
      {"graph \"g\" opset 28 (%x: f32[-1]) -> () {}", "1:25: "},
      {"graph \"g\" opset 28 (%x: f32[2000000000, 2000000000, 2000000000]) -> () {}", "1:25: "},
      {"graph \"g\" opset 28 () -> () {\n  %y = Relu(%x)\n}", "2:13: \"x\" is not defined"},
      {"graph \"g\" opset 28 () -> () {\n const %c: f32[2] = {1}\n}", "2:21: "},
      {"graph \"g\" opset 28 () -> () {\n const %c: i8[1] = {128}\n}", "2:21: \"128\" is not"},
      {"graph \"g\" opset 28 () -> () {\n const %c: i4[1] = {8}\n}", "is not a number of type i4"},
      {"graph \"g\" opset 28 () -> () {\n const %c: u2[1] = {-1}\n}", "2:21: \"-1\" is not"},
      {"graph \"g\" opset 28 () -> () {\n const %c: f4e2m1[1] = hex \"10\"\n}", "stands for no"},
      {"graph \"g\" opset 28 () -> () {\n const %c: f16[1] = {1}\n}", "written in hex"},
      {"graph \"g\" opset 28 () -> () {\n const %c: f16[1] = hex \"0g00\"\n}", "other digits"},
      {"graph \"g\" opset 28 () -> () {\n %y = A() {a = []}\n}", "needs its kind"},
      {"graph \"g\" opset 28 () -> () {\n %y = A() {a = [1, 2.0]}\n}", "mixes"},
      {"graph \"g\" opset 28 () -> () {\n %y = A() {a = 1, a = 2}\n}", "there twice"},
      {"graph \"g\" opset 28 () -> () {\n %y = A() {a = 1.5.5}\n}", "is not a 32-bit float"},
      {"graph \"unfinished", "1:7: the string does not end"},
      {"graph \"\\q\"", "may follow a backslash"},
      {"graph \"g\" opset 28 () -> () { ; }", "unexpected character 0x3b"},
  };
  for (const BadText& bad : cases) {
    SCOPED_TRACE(bad.text);
    const auto graph = ParseGraph(bad.text);
    ASSERT_FALSE(graph.ok());
    EXPECT_THAT(graph.status().message(), HasSubstr(bad.message));
  }
}

TEST(GraphTextTest, ConstraintsComeBack) {
  constexpr char kText[] =
      "graph \"g\" opset 28 [m in 0..9, n in 0..9] (%x: f32[n], %y: f32[m]) -> (%z) {\n"
      "  require m = n | min(m, n) = 1 \"Add sum\"\n"
      "  require 2*n = 4 \"\"\n"
      "  %z = Add(%x, %y)\n"
      "}\n";
  const auto graph = ParseGraph(kText);
  ASSERT_OK(graph.status());
  EXPECT_EQ(Print(*graph), kText);
  ASSERT_EQ(graph->constraints.size(), 2u);
  EXPECT_EQ(graph->constraints[0].user, "Add sum");
  Graph other = *graph;
  other.constraints.pop_back();
  EXPECT_FALSE(other == *graph);
  EXPECT_NE(DigestOf(other, DigestNames::kIncluded), DigestOf(*graph, DigestNames::kIncluded));
}

TEST(GraphTextTest, SymbolsAndQuantizationsComeBack) {
  constexpr char kText[] =
      "graph \"any\" opset 28 [batch in 1..64, w in 0..4096] (%x: f32[batch, 3, w], %n: i64[?]) -> "
      "(%q, %t) {\n"
      "  const %k: i8[2, 1] quantized {axis = 0, scales = [0.5, 0.1], zeros = [0, -3]} = {1, 2}\n"
      "  %q = Quantize(%x, %k) : u8[batch, 3, floordiv(w + 1, 2)] quantized {scales = [0.25], "
      "zeros = [128]}\n"
      "  %t = Take(%x, %n) {body = graph \"b\" opset 28 [w in 0..4096] (%y: f32[3*w - 1]) -> (%y) "
      "{\n"
      "  }} : f32[?, max(batch, w, 2)]\n"
      "}\n";
  const auto graph = ParseGraph(kText);
  ASSERT_OK(graph.status());
  EXPECT_EQ(Print(*graph), kText);
  EXPECT_TRUE(*ParseGraph(Print(*graph)) == *graph);
  ASSERT_EQ(graph->symbols.size(), 2u);
  EXPECT_EQ(graph->symbols[1], (Symbol{"w", 0, 4096}));
  EXPECT_EQ(graph->values[0].type->dimension(0), Dimension(*Expression::Symbol("batch")));
  EXPECT_TRUE(graph->values[1].type->dimension(0).is_unknown());
  EXPECT_EQ(graph->values[graph->outputs[0]].type->quantization()->zero_points[0], 128);
  // What is written otherwise prints in the canonical form; comments may stand anywhere.
  const auto other =
      ParseGraph("graph \"g\" opset 28[w in 1..2](%x: f32[(1 + w)*2 # so\n - w, 4-1])->(%x){}");
  ASSERT_OK(other.status());
  EXPECT_EQ(Print(*other), "graph \"g\" opset 28 [w in 1..2] (%x: f32[w + 2, 3]) -> (%x) {\n}\n");
}

TEST(GraphTextTest, ErrorsOfSymbolsAndQuantizationsSayWhere) {
  const auto types = [](absl::string_view type) {
    return absl::StrCat("graph \"g\" opset 28 [w in 1..9] (%x: ", type, ") -> () {}");
  };
  const std::pair<std::string, const char*> cases[] = {
      {"graph \"g\" opset 28 [w] () -> () {}", "1:22: expected \"in\""},
      {"graph \"g\" opset 28 [w in 3] () -> () {}", "1:26: expected bounds such as 1..64"},
      {"graph \"g\" opset 28 [w in 1..x] () -> () {}", "1:26: expected bounds such as 1..64"},
      {"graph \"g\" opset 28 [1 in 1..2] () -> () {}", "1:21: expected a symbol"},
      {types("f32[]]"), "expected \",\""},
      {types("f32[w w]"), "1:41: expected an extent: expression \"w w\": expected the end"},
      {types("f32[2, ,]"), "expected an extent"},
      {types("f32[%x]"), "1:41: expected an extent"},
      {types("f32[floordiv(w, 0)]"), "1:41: expected an extent: \"w\" is divided by 0"},
      {types("f32[9223372036854775807 + 1]"), "does not fit in 64 bits"},
      {types("f32[9223372036854775808]"), "1:41: expected an extent"},
      {types("f32[(w]"), "expected an extent"},
      {types("f32[w, -1]"), "1:37: known extents of f32[w, -1]"},
      {types("u8[2] quantized {scales = [1.0, 1.0], zeros = [0, 0]}"), "2 scales without an axis"},
      {types("u8[2] quantized {axis = 1, scales = [1.0], zeros = [0]}"), "axis 1 is outside"},
      {types("u8[2] quantized {axis = 16, scales = [1.0], zeros = [0]}"), "out of range"},
      {types("u8[2] quantized {axis = 0, scales = [1.0], zeros = [0]}"), "1 scales along axis 0"},
      {types("u8[2] quantized {scales = [nan], zeros = [0]}"), "scale nan is not a finite number"},
      {types("u8[2] quantized {scales = [0.0], zeros = [0]}"), "scale 0 is not a finite number"},
      {types("u8[2] quantized {scales = [1.0], zeros = [-1]}"), "zero point -1 is no value of u8"},
      {types("u8[2] quantized {zeros = [0]}"), "expected \"scales\""},
      {types("f32[2] quantized {scales = [1.0], zeros = [0]}"), "f32 is not an integer"},
      {"graph \"g\" opset 28 () -> () { const %c: f32[?] = {1} }", "extents must be numbers"},
  };
  for (const auto& [text, message] : cases) {
    SCOPED_TRACE(text);
    const auto graph = ParseGraph(text);
    ASSERT_FALSE(graph.ok());
    EXPECT_THAT(graph.status().message(), HasSubstr(message));
  }
}

TEST(GraphTextTest, ExpressionsAndSymbolsAreBounded) {
  const auto with_extent = [](absl::string_view extent) {
    return ParseGraph(absl::StrCat("graph \"g\" opset 28 (%x: f32[", extent, "]) -> () {}"))
        .status();
  };
  EXPECT_EQ(with_extent(std::string(100'000, '(')).code(), absl::StatusCode::kResourceExhausted);
  std::string nested(300 * 9, ' ');
  for (int i = 0; i < 300; ++i) nested.replace(i * 9, 9, "floordiv(");
  EXPECT_EQ(with_extent(nested).code(), absl::StatusCode::kInvalidArgument);  // Never closed.
  nested += "w";
  for (int i = 0; i < 300; ++i) nested += ", h)";
  EXPECT_EQ(with_extent(nested).code(), absl::StatusCode::kResourceExhausted);
  std::string sum = "w";
  for (int i = 0; i < 20'000; ++i) sum += " + w";
  EXPECT_EQ(with_extent(sum).code(), absl::StatusCode::kResourceExhausted);

  std::string symbols = "s in 1..2";
  for (int i = 0; i < 300; ++i) absl::StrAppend(&symbols, ", s", i, " in 1..2");
  EXPECT_THAT(ParseGraph(absl::StrCat("graph \"g\" opset 28 [", symbols, "] () -> () {}"))
                  .status()
                  .message(),
              HasSubstr("too many symbols"));
}

TEST(GraphTextTest, NestingAndSplatsAreBounded) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) {
    deep += "graph \"g\" opset 28 () -> () { %y = A() {b = ";
  }
  EXPECT_EQ(ParseGraph(deep).status().code(), absl::StatusCode::kResourceExhausted);

  const std::string splat = "graph \"g\" opset 28 () -> () { const %c: f32[2000000000] = splat 1 }";
  EXPECT_EQ(ParseGraph(splat).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ParseGraph("graph \"g\" opset 28 () -> () { const %c: f32[10] = splat 1 }",
                       {.max_splat_bytes = 39})
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);

  EXPECT_EQ(ParseGraph(absl::StrCat("graph \"", std::string(5000, 'x'), "\"")).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace slipway
