#include "core/graph/bind_symbols.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "core/graph/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

Graph Parsed(const std::string& text) {
  const auto graph = ParseGraph(text);
  EXPECT_OK(graph.status()) << text;
  return graph.ok() ? *graph : Graph();
}

TEST(BindSymbolsTest, ReplacesSymbolsInBodiesToo) {
  const Graph graph = Parsed(
      "graph \"g\" opset 28 [b in 1..64, w in 1..100] (%x: f32[b, w]) -> (%y, %z) {\n"
      "  %y = Half(%x) : f32[b, floordiv(w + 1, 2)]\n"
      "  %z = Group(%x) {body = graph \"i\" opset 28 [b in 1..64] (%a: f32[b, ?]) -> (%a) {\n"
      "  }} : f32[b, ?]\n"
      "}\n");
  const auto bound = BindSymbols(graph, {{"b", 4}, {"w", 7}});
  ASSERT_OK(bound.status());
  EXPECT_EQ(Print(*bound),
            "graph \"g\" opset 28 (%x: f32[4, 7]) -> (%y, %z) {\n"
            "  %y = Half(%x) : f32[4, 4]\n"
            "  %z = Group(%x) {body = graph \"i\" opset 28 (%a: f32[4, ?]) -> (%a) {\n"
            "  }} : f32[4, ?]\n"
            "}\n");
}

TEST(BindSymbolsTest, LeavesSymbolsWithoutAValue) {
  const auto bound = BindSymbols(Parsed("graph \"g\" opset 28 [b in 1..64, w in 1..100, n in 1..9] "
                                        "(%x: f32[b, w + b, ?]) -> (%x) {\n"
                                        "  require n = b + 1 \"Add one\"\n"
                                        "  require b = w | w = 7 \"Add two\"\n"
                                        "}\n"),
                                 {{"w", 7}});
  ASSERT_OK(bound.status());
  EXPECT_EQ(Print(*bound),
            "graph \"g\" opset 28 [b in 1..64, n in 1..9] (%x: f32[b, b + 7, ?]) -> (%x) {\n"
            "  require n = b + 1 \"Add one\"\n"
            "}\n");
  const Graph narrow = Parsed(
      "graph \"g\" opset 28 [b in 1..64] (%x: f32[b]) -> (%x) {\n"
      "  require b = 8 | b = 1 \"Add sum\"\n"
      "}\n");
  EXPECT_OK(BindSymbols(narrow, {{"b", 8}}).status());
  EXPECT_EQ(BindSymbols(narrow, {{"b", 2}}).status().message(),
            "Add sum needs b = 8 or b = 1, which cannot be");
}

TEST(BindSymbolsTest, ErrorsNameSymbolAndValue) {
  const Graph graph = Parsed(
      "graph \"g\" opset 28 [b in 1..64] (%x: f32[4 - b], %y: f32[floordiv(8, b - 2)]) -> () {}");
  EXPECT_THAT(BindSymbols(graph, {{"b", 65}}).status().message(),
              HasSubstr("symbol \"b\" is 65, which is outside 1..64"));
  EXPECT_THAT(BindSymbols(graph, {{"b", 5}}).status().message(),
              HasSubstr("value \"x\": shape [-1] has the negative extent"));
  const auto division = BindSymbols(graph, {{"b", 2}});
  EXPECT_EQ(division.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(division.status().message(), HasSubstr("value \"y\""));
  EXPECT_THAT(division.status().message(), HasSubstr("\"8\" is divided by 0"));
}

TEST(CheckStaticTest, NamesTheValueAndItsType) {
  EXPECT_OK(CheckStatic(Parsed("graph \"g\" opset 28 (%x: f32[2], %y) -> () {}"), "test"));
  const absl::Status status =
      CheckStatic(Parsed("graph \"g\" opset 28 (%x: f32[2, ?]) -> () {}"), "planning memory");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(),
            "value \"x\" is f32[2, ?]: planning memory needs extents that are known");
}

}  // namespace
}  // namespace slipway
