// Shapes that models compute, over open extents: what InferType knows of them.
#include "core/passes/contents.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/graph/text.h"
#include "core/passes/infer_type_pass.h"
#include "core/passes/testing/pass_tester.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

// The type of %y in a graph with x: f32[batch, 3, w] and these nodes.
std::string TypeOfY(absl::string_view nodes) {
  const PassTester tester;
  auto graph = ParseGraph(absl::StrCat(R"(graph "g" [batch in 1..64, w in 1..640]
      (%x: f32[batch, 3, w], %any: i64[2]) -> (%y) {
        const %zero: i64[] = {0}
        const %two: i64[] = {2}
        const %axes: i64[1] = {0}
        const %minus: i64[1] = {-1}
        %s = Shape(%x)
        %b = Gather(%s, %zero)
        %n = Gather(%s, %two)
        %b1 = Unsqueeze(%b, %axes)
        %n1 = Unsqueeze(%n, %axes)
      )",
                                       nodes, "}"));
  if (!graph.ok()) return std::string(graph.status().message());
  graph = InferType(*std::move(graph), tester.context());
  if (!graph.ok()) return std::string(graph.status().message());
  return ToString(*graph->values[graph->outputs[0]].type);
}

TEST(ContentsTest, ShapesAreFollowedThroughArithmetic) {
  EXPECT_EQ(TypeOfY("%t = Concat(%b1, %minus) {axis = 0}\n%y = Reshape(%x, %t)"),
            "f32[batch, 3*w]");
  EXPECT_EQ(TypeOfY("%m = Mul(%b1, %n1)\n%t = Concat(%m, %minus) {axis = 0}\n"
                    "%y = Reshape(%x, %t)"),
            "f32[batch*w, 3]");
  EXPECT_EQ(TypeOfY("%h = Div(%n1, %two)\n%t = Concat(%b1, %h) {axis = 0}\n"
                    "%y = ConstantOfShape(%t)"),
            "f32[batch, floordiv(w, 2)]");
  EXPECT_EQ(TypeOfY("%d = Sub(%n1, %two)\n%y = ConstantOfShape(%d)"), "f32[w - 2]");
  EXPECT_EQ(TypeOfY("%y = Range(%zero, %n, %two)"), "i64[floordiv(w + 1, 2)]");
  EXPECT_EQ(TypeOfY("%y = Slice(%x, %axes, %b1, %axes)"), "f32[batch, 3, w]");
  EXPECT_EQ(TypeOfY("const %e: i64[1] = {2}\n%t = Slice(%s, %axes, %e)\n%y = ConstantOfShape(%t)"),
            "f32[batch, 3]");
}

TEST(ContentsTest, ReductionsOfOneElement) {
  const auto reduced = [](absl::string_view op) {
    return TypeOfY(absl::StrCat("%r = ", op, "(%n1) {keepdims = 0}\n",
                                "%u = Unsqueeze(%r, %axes)\n%y = ConstantOfShape(%u)"));
  };
  EXPECT_EQ(reduced("ReduceProd"), "f32[w]");
  EXPECT_EQ(reduced("ReduceSum"), "f32[w]");
  EXPECT_EQ(reduced("ReduceMin"), "f32[w]");
  EXPECT_EQ(reduced("ReduceMax"), "f32[w]");
  // The square of one element is not that element.
  EXPECT_EQ(reduced("ReduceSumSquare"), "f32[y]");
}

TEST(ContentsTest, FloatsBetweenWholeNumbers) {
  const std::string scaled =
      "const %f: f32[1] = {FACTOR}\n%c = Cast(%n1) {to = 1}\n%m = Mul(%c, %f)\n"
      "%r = Floor(%m)\n%i = Cast(%r) {to = 7}\n%y = ConstantOfShape(%i)";
  const auto with = [&](const std::string& factor) {
    std::string text = scaled;
    return TypeOfY(text.replace(text.find("FACTOR"), 6, factor));
  };
  EXPECT_EQ(with("2.0"), "f32[2*w]");
  EXPECT_EQ(with("0.5"), "f32[y]");  // What is not whole is not followed.
}

// What exporters write of a tensor that is broadcast to a shape with -1 in it.
TEST(ContentsTest, ChoicesThatAreKnown) {
  EXPECT_EQ(TypeOfY("const %ones: i64[2] = {1, 1}\nconst %none: i64[1] = {-1}\n"
                    "%t = Concat(%b1, %none) {axis = 0}\n%is = Equal(%t, %minus)\n"
                    "%u = Where(%is, %ones, %t)\nconst %v: f32[1, 7] = splat 1\n"
                    "%y = Expand(%v, %u)"),
            "f32[batch, 7]");
}

TEST(ContentsTest, WhatValuesDecideIsNotKnown) {
  EXPECT_EQ(TypeOfY("%y = ConstantOfShape(%any)"), "f32[y, y.1]");
  EXPECT_EQ(TypeOfY("%y = Expand(%x, %any)"), "f32[batch, 3, y]");
}

// The Div cuts towards 0: a floor division where the windows leave sizes alone whose dividend is not negative.
TEST(ContentsTest, WindowsSayHowSmallAnExtentMayBe) {
  const PassTester tester;
  const auto graph = ParseGraph(R"(
    graph "g" [batch in 0..8, w in 1..640] (%x: f32[batch, 1, 1, w], %weights: f32[1, 1, 1, 10]) -> (%y, %more) {
      const %three: i64[1] = {3}
      const %two: i64[1] = {2}
      const %fill: f32[1] = {1}
      %all = Shape(%x)
      %width = Gather(%all, %three)
      %less = Sub(%width, %three)
      %half = Div(%less, %two)
      %c = Conv(%x, %weights) {strides = [1, 5]}
      %y = MaxPool(%c) {kernel_shape = [1, 3]}
      %more = Expand(%fill, %half)
    })");
  ASSERT_OK(graph.status());
  const auto inferred = InferType(*graph, tester.context());
  ASSERT_OK(inferred.status());
  EXPECT_EQ(inferred->symbols[0], (Symbol{"batch", 0, 8}));
  EXPECT_EQ(inferred->symbols[1], (Symbol{"w", 20, 640}));
  const auto type = [&](int output) {
    return ToString(*inferred->values[inferred->outputs[output]].type);
  };
  EXPECT_EQ(type(0), "f32[batch, 1, 1, floordiv(w, 5) - 3]");
  EXPECT_EQ(type(1), "f32[floordiv(w + 1, 2) - 2]");
}

TEST(ContentsTest, RefusesWindowsThatFitAtNoSize) {
  const PassTester tester;
  const auto graph = ParseGraph(R"(
    graph "g" [w in 1..9] (%x: f32[1, 1, 1, w], %weights: f32[1, 1, 1, 10]) -> (%y) {
      %y = Conv "c" (%x, %weights)
    })");
  ASSERT_OK(graph.status());
  EXPECT_THAT(InferType(*graph, tester.context()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("node \"c\" (Conv): the window fits"), HasSubstr("w - 9"))));
}

}  // namespace
}  // namespace slipway
