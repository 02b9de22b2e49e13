#include "core/passes/quantize_pass.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "core/graph/text.h"
#include "core/passes/fold_quantization_pass.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class QuantizeTest : public ::testing::Test {
 protected:
  Graph Parse(const std::string& text) const {
    const absl::StatusOr<Graph> graph = tester_.Parse(text);
    EXPECT_OK(graph.status());
    return graph.ok() ? *graph : Graph();
  }
  QuantizedGraph Quantized(const std::string& text, const ValueRanges& ranges) const {
    absl::StatusOr<QuantizedGraph> quantized = Quantize(Parse(text), ranges, tester_.context());
    EXPECT_OK(quantized.status());
    return quantized.ok() ? *std::move(quantized) : QuantizedGraph();
  }
  std::vector<std::string> ObservedIn(const std::string& text) const {
    const Graph graph = Parse(text);
    std::vector<std::string> names;
    for (const ValueId id : PlanQuantization(graph, tester_.context()).Observed()) {
      names.push_back(graph.values[id].name);
    }
    return names;
  }
  std::string ReasonIn(const std::string& text) const {
    const QuantizationPlan plan = PlanQuantization(Parse(text), tester_.context());
    EXPECT_THAT(plan.products, IsEmpty());
    return plan.left.size() == 1 ? plan.left[0].reason : "";
  }

  PassTester tester_;
};

// Between the two convolutions a maximum, and a sum beside it.
constexpr char kNet[] = R"(
    graph "g" (%x: f32[1, 1, 2, 2]) -> (%y) {
      const %w1: f32[2, 1, 1, 1] = {1.27, -254}
      %c1 = Conv "c1" (%x, %w1)
      %r1 = Relu "r1" (%c1)
      %p1 = MaxPool "p1" (%r1) {kernel_shape = [1, 1]}
      const %w2: f32[2, 2, 1, 1] = {0, 0, 0.5, -1}
      const %b2: f32[2] = {3, 4}
      %c2 = Conv "c2" (%p1, %w2, %b2)
      %y = Add "y" (%c2, %r1)
    })";

TEST_F(QuantizeTest, PutsCodesAroundConvolutions) {
  EXPECT_THAT(ObservedIn(kNet), ElementsAre("x", "r1"));
  const QuantizedGraph quantized = Quantized(kNet, {{"x", {-1, 1.55f}}, {"r1", {0, 510}}});
  EXPECT_EQ(quantized.integer_products, 2);
  EXPECT_THAT(quantized.left, IsEmpty());
  EXPECT_EQ(Print(quantized.graph), R"(graph "g" opset 28 (%x: f32[1, 1, 2, 2]) -> (%y) {
  const %x_scale: f32[] = {0.01}
  const %x_zero: u8[] = {100}
  %x_quantized = QuantizeLinear "x_quantized" (%x, %x_scale, %x_zero) : u8[1, 1, 2, 2]
  %x_dequantized = DequantizeLinear "x_dequantized" (%x_quantized, %x_scale, %x_zero) : f32[1, 1, 2, 2]
  const %w1_quantized: i8[2, 1, 1, 1] = {127, -127}
  const %w1_scales: f32[2] = {0.01, 2}
  %w1_dequantized = DequantizeLinear "w1_dequantized" (%w1_quantized, %w1_scales) {axis = 0} : f32[2, 1, 1, 1]
  %c1 = Conv "c1" (%x_dequantized, %w1_dequantized) : f32[1, 2, 2, 2]
  %r1 = Relu "r1" (%c1) : f32[1, 2, 2, 2]
  const %r1_scale: f32[] = {2}
  const %r1_zero: u8[] = {0}
  %r1_quantized = QuantizeLinear "r1_quantized" (%r1, %r1_scale, %r1_zero) : u8[1, 2, 2, 2]
  %r1_dequantized = DequantizeLinear "r1_dequantized" (%r1_quantized, %r1_scale, %r1_zero) : f32[1, 2, 2, 2]
  %p1 = MaxPool "p1" (%r1_dequantized) {kernel_shape = [1, 1]} : f32[1, 2, 2, 2]
  const %p1_scale: f32[] = {2}
  const %p1_zero: u8[] = {0}
  %p1_quantized = QuantizeLinear "p1_quantized" (%p1, %p1_scale, %p1_zero) : u8[1, 2, 2, 2]
  %p1_dequantized = DequantizeLinear "p1_dequantized" (%p1_quantized, %p1_scale, %p1_zero) : f32[1, 2, 2, 2]
  const %w2_quantized: i8[2, 2, 1, 1] = {0, 0, 64, -127}
  const %w2_scales: f32[2] = {1, 0.007874016}
  %w2_dequantized = DequantizeLinear "w2_dequantized" (%w2_quantized, %w2_scales) {axis = 0} : f32[2, 2, 1, 1]
  const %b2: f32[2] = {3, 4}
  %c2 = Conv "c2" (%p1_dequantized, %w2_dequantized, %b2) : f32[1, 2, 2, 2]
  %y = Add "y" (%c2, %r1_dequantized) : f32[1, 2, 2, 2]
}
)");
}

// What it writes is what the next pass reads.
TEST_F(QuantizeTest, BecomesProductsOfIntegers) {
  const QuantizedGraph quantized = Quantized(kNet, {{"x", {-1, 1.55f}}, {"r1", {0, 510}}});
  const absl::StatusOr<Graph> folded = FoldQuantization(quantized.graph, tester_.context());
  ASSERT_OK(folded.status());
  const std::string text = Print(*folded);
  EXPECT_THAT(text, HasSubstr("slipway.IntegerConv \"c1\""));
  EXPECT_THAT(text, HasSubstr("slipway.IntegerConv \"c2\""));
  EXPECT_THAT(text, Not(HasSubstr("Conv \"c1\" (%x_deq")));
  EXPECT_OK(tester_.CheckSameResults(quantized.graph, *folded, 1));
}

// A graph output is what it was, though products read it quantized.
TEST_F(QuantizeTest, KeepsOutputs) {
  const QuantizedGraph quantized = Quantized(R"(
    graph "g" (%x: f32[1, 1, 1, 1]) -> (%r, %c) {
      %r = Relu "r" (%x)
      const %w: f32[1, 1, 1, 1] = {1}
      %c = Conv "c" (%r, %w)
    })",
                                             {{"r", {0, 1}}});
  EXPECT_THAT(Print(quantized.graph), HasSubstr("%r = Relu \"r\" (%x)"));
}

TEST_F(QuantizeTest, LeavesWhatHasNoRange) {
  const QuantizedGraph quantized = Quantized(kNet, {{"x", {0, 1}}});
  EXPECT_EQ(quantized.integer_products, 1);
  ASSERT_EQ(quantized.left.size(), 1u);
  EXPECT_EQ(quantized.left[0].node, "c2");
  EXPECT_EQ(quantized.left[0].reason, "nothing is known of \"r1\"");
}

TEST_F(QuantizeTest, SaysWhyProductsStay) {
  const std::string conv = R"(
    graph "g" (%x: f32[1, 2, 2, 2]) -> (%c) {
      const %w: f32[2, 2, 1, 1] = {1, 2, 3, 4}
      %c = Conv "c" (%x, %w)
    })";
  EXPECT_THAT(ObservedIn(conv), ElementsAre("x"));
  EXPECT_EQ(ReasonIn(absl::StrReplaceAll(
                conv, {{"const %w: f32[2, 2, 1, 1] = {1, 2, 3, 4}", ""},
                       {"(%x: f32[1, 2, 2, 2])", "(%x: f32[1, 2, 2, 2], %w: f32[2, 2, 1, 1])"}})),
            "its weights are not constant");
  EXPECT_EQ(ReasonIn(absl::StrReplaceAll(conv, {{"{1, 2, 3, 4}", "{1, 2, inf, 4}"}})),
            "its weights are not finite");
  EXPECT_EQ(ReasonIn(R"(
    graph "g" (%x: f32[1, 100000, 1, 1]) -> (%c) {
      const %w: f32[1, 100000, 1, 1] = splat 1
      %c = Conv "c" (%x, %w)
    })"),
            "a sum of 100000 products may be more than 32 bits hold");
  EXPECT_EQ(ReasonIn(R"(
    graph "g" (%x: f32[1, 2, 4, 4]) -> (%c) {
      const %w: f32[2, 3, 2, 2] = splat 1
      %c = ConvTranspose "c" (%x, %w)
    })"),
            "products of integers are for Conv, Gemm and MatMul, not for ConvTranspose");
  EXPECT_EQ(ReasonIn(R"(
    graph "g" (%x: f32[4, 2]) -> (%c) {
      const %w: f32[2, 3] = splat 1
      %c = Gemm "c" (%x, %w) {alpha = 0.5}
    })"),
            "it transposes its data, or has factors");
  EXPECT_EQ(ReasonIn(R"(
    graph "g" (%x: f32[4, 2], %b: f32[3]) -> (%c) {
      const %w: f32[2, 3] = splat 1
      %c = Gemm "c" (%x, %w, %b)
    })"),
            "its bias is not constant");
}

// A layer's rows, which a sum around it reads as they are, by matrices whose columns lie along either dimension.
TEST_F(QuantizeTest, PutsCodesAroundProductsOfMatrices) {
  const char* layer = R"(
    graph "g" (%x: f32[2, 3, 4]) -> (%y) {
      const %w: f32[4, 2] = {1, 2, 3, 4, 5, 6, 7, -254}
      %h = MatMul "h" (%x, %w)
      const %shape: i64[2] = {6, 2}
      %m = Reshape(%h, %shape)
      const %v: f32[4, 2] = {1, 2, 3, 4, 5, 6, -127, -8}
      const %b: f32[4] = {1, 2, 3, 4}
      %g = Gemm "g" (%m, %v, %b) {transB = 1}
      const %back: i64[3] = {2, 3, 4}
      %r = Reshape(%g, %back)
      %y = Add(%r, %x)
    })";
  const ValueRanges ranges = {{"x", {-1, 1.55f}}, {"m", {-40, 24}}};
  EXPECT_THAT(ObservedIn(layer), ElementsAre("x", "m"));
  const QuantizedGraph quantized = Quantized(layer, ranges);
  EXPECT_EQ(quantized.integer_products, 2);
  const std::string text = Print(quantized.graph);
  EXPECT_THAT(text, HasSubstr("const %w_scales: f32[2] = {0.05511811, 2}"));
  EXPECT_THAT(text, HasSubstr("(%w_quantized, %w_scales) {axis = 1}"));
  EXPECT_THAT(text, HasSubstr("(%v_quantized, %v_scales) {axis = 0}"));
  EXPECT_THAT(text, HasSubstr("%y = Add(%r, %x)"));
  const absl::StatusOr<Graph> folded = FoldQuantization(quantized.graph, tester_.context());
  ASSERT_OK(folded.status());
  EXPECT_THAT(Print(*folded), HasSubstr("slipway.IntegerGemm \"h\""));
  EXPECT_THAT(Print(*folded), HasSubstr("slipway.IntegerGemm \"g\""));
  EXPECT_OK(tester_.CheckSameResults(quantized.graph, *folded, 1));
}

// Nothing but zeros was seen, or so little that no scale of f32 is as fine.
TEST_F(QuantizeTest, ScalesAreNumbersAlways) {
  for (const ValueRange range :
       {ValueRange{0, 0}, ValueRange{0, 1e-44f}, ValueRange{5, 6}, ValueRange{-3e38f, 3e38f}}) {
    const QuantizedGraph quantized = Quantized(kNet, {{"x", range}, {"r1", {0, 1}}});
    EXPECT_THAT(Print(quantized.graph), Not(HasSubstr("%x_scale: f32[] = {0}"))) << range.greatest;
    EXPECT_OK(tester_.CheckSameResults(quantized.graph, quantized.graph, 1));
    const absl::StatusOr<Graph> folded = FoldQuantization(quantized.graph, tester_.context());
    ASSERT_OK(folded.status());
    EXPECT_THAT(Print(*folded), HasSubstr("slipway.IntegerConv \"c1\"")) << range.greatest;
  }
}

TEST_F(QuantizeTest, RefusesRangesThatAreNone) {
  const auto refused = [this](const ValueRanges& ranges) {
    return Quantize(Parse(kNet), ranges, tester_.context()).status();
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(refused({{"x", {nan, 1}}}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(refused({{"x", {0, infinity}}}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(refused({{"x", {1, 0}}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"x\"")));
  EXPECT_THAT(refused({{"other", {0, 1}}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"other\"")));
}

}  // namespace
}  // namespace slipway
