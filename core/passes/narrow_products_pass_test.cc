#include "core/passes/narrow_products_pass.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/graph/text.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::testing::HasSubstr;
using ::testing::Not;

Pass Narrowing(NarrowForms forms) {
  return [forms](Graph graph, const PassContext& context) {
    return NarrowProducts(std::move(graph), context, forms);
  };
}

const NarrowForms kBfloat16 = {.bfloat16_matrices = true,
                               .bfloat16_convolutions = [](const ConvView&) { return true; }};
const NarrowForms kBytes = {.bytes = true};

std::string After(const PassTester& tester, NarrowForms forms, const std::string& before) {
  absl::StatusOr<Graph> graph = tester.Parse(before);
  if (graph.ok()) graph = NarrowProducts(*std::move(graph), tester.context(), forms);
  EXPECT_OK(graph.status());
  return graph.ok() ? Print(*graph) : "";
}

// Weights that bf16 holds, since the two have to compute the same but for x.
TEST(NarrowProducts, RoundsDataAndWeightsToBfloat16) {
  const PassTester tester;
  const std::string before = R"(
    graph "g" (%x: f32[1, 1, 2, 2, 2]) -> (%y) {
      const %w: f32[1, 1, 1, 1, 2, 2] = {1.0, 2.0, 3.0, 4.0}
      const %b: f32[2] = {1.0, 2.0}
      %y = slipway.ConvNCHWc "c" (%x, %w, %b)
    })";
  const std::string after = After(tester, kBfloat16, before);
  EXPECT_THAT(after, HasSubstr(" : bf16[1, 1, 2, 2, 2]"));
  EXPECT_THAT(after, HasSubstr(": bf16[1, 1, 1, 1, 1, 2, 2] = "));
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(before));
  ASSERT_OK_AND_ASSIGN(const Graph narrowed, NarrowProducts(graph, tester.context(), kBfloat16));
  for (const uint64_t seed : {1, 2, 3}) {
    EXPECT_OK(tester.CheckSameResults(graph, narrowed, seed, {.relative = 0.01, .absolute = 0.05}));
  }
  EXPECT_OK(tester.Check(Narrowing({}), before, before));
  const auto is_large = [](const ConvView& conv) { return conv.in_block >= 16; };
  EXPECT_OK(tester.Check(Narrowing({.bfloat16_convolutions = is_large}), before, before));
  EXPECT_OK(tester.Check(Narrowing(kBytes), before, before));
}

TEST(NarrowProducts, LetsElementwiseOperatorsReadTheNarrowForm) {
  const PassTester tester;
  const auto graph = [](const char* reader) {
    return absl::StrCat(R"(
      graph "g" (%a: f32[1, 1, 2, 2, 2]) -> (%y, %z) {
        const %w: f32[1, 1, 1, 1, 2, 2] = {1.0, 2.0, 3.0, 4.0}
        %x = Relu(%a)
        %y = slipway.ConvNCHWc "c" (%x, %w)
        %z = )",
                        reader, "\n}");
  };
  EXPECT_THAT(After(tester, kBfloat16, graph("Neg(%x)")), HasSubstr("= Neg(%x_widened)"));
  // It is there as it is anyway.
  EXPECT_THAT(After(tester, kBfloat16, graph("slipway.MaxPoolNCHWc(%x) {kernel_shape = [1, 1]}")),
              HasSubstr("MaxPoolNCHWc(%x)"));
}

TEST(NarrowProducts, RoundsMatricesOfAnEvenDepth) {
  const PassTester tester;
  const auto graph = [](int depth) {
    return absl::StrCat(R"(
      graph "g" (%a: f32[5, )",
                        depth, R"(]) -> (%y) {
        const %w: f32[1, )",
                        depth, R"(, 4] = splat 0.5
        const %b: f32[3] = {1.0, 2.0, 3.0}
        %x = Relu(%a)
        %y = slipway.GemmPacked "fc" (%x, %w, %b) {columns = 3}
      })");
  };
  const std::string before = graph(6);
  const std::string after = After(tester, kBfloat16, before);
  EXPECT_THAT(after, HasSubstr("= slipway.RoundToBfloat16 \"x_bf16\" "));
  EXPECT_THAT(after, HasSubstr(": bf16[1, 3, 4, 2] = "));
  EXPECT_THAT(After(tester, kBfloat16, graph(7)), Not(HasSubstr("bf16")));
  EXPECT_THAT(After(tester, kBytes, before), Not(HasSubstr("bf16")));
}

// What it reads alone: few products are summed, and weights are few.
TEST(NarrowProducts, RoundsWhatDepthwiseConvolutionsRead) {
  const PassTester tester;
  const std::string before = R"(
    graph "g" (%x: f32[1, 1, 3, 3, 4]) -> (%y) {
      const %w: f32[1, 2, 2, 4] = splat 0.7
      %y = slipway.DepthwiseConvNCHWc "c" (%x, %w)
    })";
  const NarrowForms forms = {.bfloat16_depthwise = true};
  const std::string after = After(tester, forms, before);
  EXPECT_THAT(after, HasSubstr(" : bf16[1, 1, 3, 3, 4]"));
  EXPECT_THAT(after, HasSubstr("f32[1, 2, 2, 4]"));
  EXPECT_OK(tester.Check(Narrowing(kBfloat16), before, before));
}

TEST(NarrowProducts, LeavesWhatIsNot) {
  const PassTester tester;
  for (const char* x_and_w :
       {"(%x: f32[1, 2, 2, 2]) -> (%y) { const %w: f32[1, 2, 1, 1, 2] = splat 1.0",
        "(%x: f32[1, 2, 2, 2, 1]) -> (%y) { const %w: f32[1, 2, 1, 1, 1, 2] = splat 1.0",
        "(%x: f32[1, 1, 2, 2, 2], %w: f32[1, 1, 1, 1, 2, 2]) -> (%y) {"}) {
    const std::string text =
        absl::StrCat("graph \"g\" ", x_and_w, "\n  %y = slipway.ConvNCHWc \"c\" (%x, %w)\n}");
    EXPECT_OK(tester.Check(Narrowing(kBfloat16), text, text));
  }
}

std::string OfIntegers(const std::string& made, const std::string& weight) {
  return absl::StrCat(R"(
    graph "g" (%a: u8[1, 1, 3, 3, 4]) -> (%y) {
      const %w: i16[1, 1, 3, 3, 2, 2, 2] = splat )",
                      weight, R"(
      const %z: i16[] = {3}
      const %low: i16[] = {-3}
      const %high: i16[] = {252}
      %s = Cast(%a) {to = 5}
      %x = )",
                      made, R"(
      %y = slipway.ConvNCHWc "c" (%x, %w) {pads = [1, 1, 1, 1]}
    })");
}

TEST(NarrowProducts, MakesBytesOfIntegersThatFit) {
  const PassTester tester;
  for (const char* made : {"Sub(%s, %z)", "Clip(%s, %low, %high)"}) {
    const std::string before = OfIntegers(made, "-128");
    const std::string after = After(tester, kBytes, before);
    const bool was_bytes = made[0] == 'S';
    EXPECT_THAT(after, HasSubstr(was_bytes ? "NCHWc \"c\" (%a, " : "= Cast \"x_u8\" "));
    EXPECT_THAT(after, HasSubstr(": i8[1, 1, 3, 3, 1, 2, 4] = "));
    EXPECT_THAT(after, HasSubstr("zero = 3"));
    ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(before));
    ASSERT_OK_AND_ASSIGN(const Graph narrowed, NarrowProducts(graph, tester.context(), kBytes));
    // To the last bit.
    EXPECT_OK(tester.CheckSameResults(graph, narrowed, 1, {0, 0}));
    EXPECT_OK(tester.Check(Narrowing(kBfloat16), before, before));
  }
  // Weights of 9 bits, numbers that nothing bounds, more than 8 bits hold.
  EXPECT_THAT(After(tester, kBytes, OfIntegers("Sub(%s, %z)", "128")), Not(HasSubstr("zero = 3")));
  EXPECT_THAT(After(tester, kBytes, OfIntegers("Mul(%s, %z)", "1")),
              Not(HasSubstr("= Cast \"x_u8\" ")));
  EXPECT_THAT(After(tester, kBytes, OfIntegers("Clip(%s, %low)", "1")),
              Not(HasSubstr("= Cast \"x_u8\" ")));
}

TEST(NarrowProducts, ReadsBytesWhereTheirNumbersWereRead) {
  const PassTester tester;
  const std::string before = R"(
    graph "g" (%a: u8[1, 1, 3, 3, 4]) -> (%y, %r) {
      const %w: i16[1, 1, 1, 1, 2, 2, 2] = splat -7
      const %z: i16[] = {3}
      const %scale: f32[] = {0.5}
      %s = Cast(%a) {to = 5}
      %x = Sub(%s, %z)
      %y = slipway.ConvNCHWc "c" (%x, %w)
      %r = DequantizeLinear(%x, %scale)
    })";
  EXPECT_THAT(After(tester, kBytes, before), HasSubstr("DequantizeLinear(%a, %scale, "));
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(before));
  ASSERT_OK_AND_ASSIGN(const Graph narrowed, NarrowProducts(graph, tester.context(), kBytes));
  EXPECT_OK(tester.CheckSameResults(graph, narrowed, 1, {0, 0}));
}

TEST(NarrowProducts, MakesBytesOfMatricesOfIntegers) {
  const PassTester tester;
  // Rows that are shown as a matrix, of which a product reads the bytes that were there; and quantized ones.
  const std::string before = R"(
    graph "g" (%a: u8[2, 3, 8], %f: f32[6, 8]) -> (%y, %z) {
      const %w: i16[2, 4, 2, 2] = splat -7
      const %zero: i16[] = {3}
      const %shape: i64[2] = {6, 8}
      const %none: i16[] = {0}
      const %low: i16[] = {-3}
      const %high: i16[] = {252}
      const %scale: f32[] = {0.01}
      %s = Cast(%a) {to = 5}
      %c = Sub(%s, %zero)
      %x = Reshape(%c, %shape)
      %y = slipway.GemmPacked "y" (%x, %w) {columns = 3}
      %q = QuantizeLinear(%f, %scale, %none)
      %l = Clip(%q, %low, %high)
      %z = slipway.GemmPacked "z" (%l, %w) {columns = 4}
    })";
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(before));
  ASSERT_OK_AND_ASSIGN(const Graph narrowed, NarrowProducts(graph, tester.context(), kBytes));
  const std::string after = Print(narrowed);
  EXPECT_THAT(after, HasSubstr("= Reshape \"x_u8_shown\" (%a, %shape) : u8[6, 8]"));
  EXPECT_THAT(after, HasSubstr(": i8[2, 2, 2, 4] = "));
  EXPECT_THAT(after, HasSubstr("const %w_u8_sums: i32[3] = {168, 168, 168}"));
  EXPECT_THAT(after, Not(HasSubstr("i16[6, 8]")));
  EXPECT_OK(tester.CheckSameResults(graph, narrowed, 1, {0, 0}));
  EXPECT_OK(tester.Check(Narrowing(kBfloat16), before, before));
}

// From what is quantized, with a MaxPool between, and for depthwise convolutions.
TEST(NarrowProducts, QuantizesToBytesAtOnce) {
  const PassTester tester;
  const std::string before = R"(
    graph "g" (%a: f32[1, 1, 4, 4, 4]) -> (%y, %d) {
      const %w: i16[1, 1, 1, 1, 2, 2, 2] = splat -7
      const %k: i16[1, 3, 3, 4] = splat 100
      const %z: i16[] = {0}
      const %low: i16[] = {-3}
      const %high: i16[] = {252}
      const %scale: f32[] = {0.5}
      %q = QuantizeLinear(%a, %scale, %z)
      %c = Clip(%q, %low, %high)
      %p = slipway.MaxPoolNCHWc(%c) {kernel_shape = [2, 2], strides = [2, 2]}
      %y = slipway.ConvNCHWc(%p, %w)
      %d = slipway.DepthwiseConvNCHWc(%c, %k) {pads = [1, 1, 1, 1]}
    })";
  const NarrowForms kAllBytes = {.bytes = true, .depthwise_bytes = true};
  const std::string after = After(tester, kAllBytes, before);
  EXPECT_THAT(after, Not(HasSubstr("Clip")));
  EXPECT_THAT(after, HasSubstr(": u8[1, 1, 2, 2, 4]"));
  EXPECT_THAT(after, HasSubstr(": i8[1, 3, 3, 4]"));
  EXPECT_THAT(After(tester, kBytes, before), HasSubstr(": i16[1, 3, 3, 4]"));
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(before));
  ASSERT_OK_AND_ASSIGN(const Graph narrowed, NarrowProducts(graph, tester.context(), kAllBytes));
  for (const uint64_t seed : {1, 2, 3}) {
    EXPECT_OK(tester.CheckSameResults(graph, narrowed, seed, {0, 0}));
  }
}

}  // namespace
}  // namespace slipway
