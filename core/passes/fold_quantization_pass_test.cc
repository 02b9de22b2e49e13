#include "core/passes/fold_quantization_pass.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/graph/text.h"
#include "core/passes/dead_code_pass.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::testing::HasSubstr;
using ::testing::Not;

// What becomes of a graph, without what is dead then.
std::string Folded(const std::string& text) {
  const PassTester tester;
  const auto before = tester.Parse(text);
  EXPECT_OK(before.status());
  if (!before.ok()) return "";
  auto after = FoldQuantization(*before, tester.context());
  EXPECT_OK(after.status());
  if (!after.ok()) return "";
  after = DeadCode(*std::move(after), tester.context());
  for (const uint64_t seed : {1, 2, 3}) {
    EXPECT_OK(tester.CheckSameResults(*before, *after, seed));
  }
  return Print(*after);
}

bool Stays(const std::string& text) {
  const std::string after = Folded(text);
  return after.find("Integer") == std::string::npos;
}

// A convolution between quantized tensors, whose weights have a scale a channel.
constexpr char kConv[] = R"(
    graph "g" (%x: u8[1, 2, 3, 3]) -> (%q) {
      const %xs: f32[] = {0.5}
      const %xz: u8[] = {3}
      %d = DequantizeLinear "d" (%x, %xs, %xz)
      const %w: i8[2, 2, 1, 1] = {1, -2, 3, 4}
      const %ws: f32[2] = {0.25, 2}
      const %wz: i8[2] = {0, 1}
      %dw = DequantizeLinear "dw" (%w, %ws, %wz) {axis = 0}
      const %b: f32[2] = {1, -8}
      %c = Conv "c" (%d, %dw, %b) {auto_pad = "SAME_UPPER"}
      %r = Relu "r" (%c)
      const %ys: f32[] = {4}
      const %yz: i8[] = {-5}
      %q = QuantizeLinear "q" (%r, %ys, %yz)
    })";

TEST(FoldQuantization, MultipliesIntegers) {
  EXPECT_EQ(Folded(kConv), R"(graph "g" opset 28 (%x: u8[1, 2, 3, 3]) -> (%q) {
  %x_centred = Cast "x_centred" (%x) {to = 5} : i16[1, 2, 3, 3]
  const %x_centred_zero: i16[] = {3}
  %x_centred_1 = Sub "x_centred" (%x_centred, %x_centred_zero) : i16[1, 2, 3, 3]
  const %dw_centred: i16[2, 2, 1, 1] = {1, -2, 2, 3}
  %c_1 = slipway.IntegerConv "c" (%x_centred_1, %dw_centred) {dilations = [1, 1], group = 1, kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]} : i32[1, 2, 3, 3]
  %c_real = Cast "c_real" (%c_1) {to = 1} : f32[1, 2, 3, 3]
  const %c_scale_ahead: f32[2, 1, 1] = {0.03125, 0.25}
  %c_scaled_ahead = Mul "c_scaled_ahead" (%c_real, %c_scale_ahead) : f32[1, 2, 3, 3]
  const %c_shift_ahead: f32[2, 1, 1] = {0.25, -2}
  %c_out_ahead = Add "c_out_ahead" (%c_scaled_ahead, %c_shift_ahead) : f32[1, 2, 3, 3]
  %r_ahead = Relu "r_ahead" (%c_out_ahead) : f32[1, 2, 3, 3]
  const %q_one: f32[] = {1}
  const %yz: i8[] = {-5}
  %q = QuantizeLinear "q" (%r_ahead, %q_one, %yz) : i8[1, 2, 3, 3]
}
)");
}

// Three products, a pool between the first and the second and a sum of what the last two make.
TEST(FoldQuantization, StoresWhatProductsRead) {
  EXPECT_EQ(Folded(R"(
    graph "g" (%x: f32[1, 2, 4, 4]) -> (%y) {
      const %s: f32[] = {0.25}
      const %z: u8[] = {2}
      %q0 = QuantizeLinear "q0" (%x, %s, %z)
      %d0 = DequantizeLinear "d0" (%q0, %s, %z)
      %p = MaxPool "p" (%d0) {kernel_shape = [2, 2]}
      %q1 = QuantizeLinear "q1" (%p, %s, %z)
      %d1 = DequantizeLinear "d1" (%q1, %s, %z)
      const %w: u8[2, 2, 1, 1] = {1, 2, 3, 4}
      const %ws: f32[] = {0.5}
      %dw = DequantizeLinear "dw" (%w, %ws)
      %c = Conv "c" (%d1, %dw)
      %q2 = QuantizeLinear "q2" (%c, %s, %z)
      %d2 = DequantizeLinear "d2" (%q2, %s, %z)
      %a = Add "a" (%d2, %d1)
      %y = QuantizeLinear "q3" (%a, %s, %z)
    })"),
            R"(graph "g" opset 28 (%x: f32[1, 2, 4, 4]) -> (%y) {
  const %s: f32[] = {0.25}
  const %q0_zero: i16[] = {0}
  %q0_whole = QuantizeLinear "q0_whole" (%x, %s, %q0_zero) : i16[1, 2, 4, 4]
  const %q0_least: i16[] = {-2}
  const %q0_largest: i16[] = {253}
  %q0_centred = Clip "q0_centred" (%q0_whole, %q0_least, %q0_largest) : i16[1, 2, 4, 4]
  %q1_pool = MaxPool "q1_pool" (%q0_centred) {kernel_shape = [2, 2]} : i16[1, 2, 3, 3]
  const %dw_centred: i16[2, 2, 1, 1] = {1, 2, 3, 4}
  %c_1 = slipway.IntegerConv "c" (%q1_pool, %dw_centred) {dilations = [1, 1], group = 1, kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]} : i32[1, 2, 3, 3]
  %c_real = Cast "c_real" (%c_1) {to = 1} : f32[1, 2, 3, 3]
  const %c_scale_ahead: f32[2, 1, 1] = {0.5, 0.5}
  %c_scaled_ahead = Mul "c_scaled_ahead" (%c_real, %c_scale_ahead) : f32[1, 2, 3, 3]
  const %q2_one: f32[] = {1}
  const %z: u8[] = {2}
  %q2 = QuantizeLinear "q2" (%c_scaled_ahead, %q2_one, %z) : u8[1, 2, 3, 3]
  const %s_ahead: f32[] = {1}
  %d2_ahead = DequantizeLinear "d2_ahead" (%q2, %s_ahead, %z) : f32[1, 2, 3, 3]
  const %d1_scale_ahead: f32[] = {1}
  %d1_real_ahead = DequantizeLinear "d1_real_ahead" (%q1_pool, %d1_scale_ahead) : f32[1, 2, 3, 3]
  %a_ahead = Add "a_ahead" (%d2_ahead, %d1_real_ahead) : f32[1, 2, 3, 3]
  const %q3_one: f32[] = {1}
  %y = QuantizeLinear "q3" (%a_ahead, %q3_one, %z) : u8[1, 2, 3, 3]
}
)");
}

TEST(FoldQuantization, LeavesWhatIsNoProductOfTwoCodes) {
  EXPECT_TRUE(Stays(absl::StrReplaceAll(
      kConv, {{"const %xs: f32[] = {0.5}", ""}, {"(%x: u8", "(%xs: f32[], %x: u8"}})));
  EXPECT_TRUE(Stays(absl::StrReplaceAll(kConv, {{"{axis = 0}", "{axis = 1}"}})));
  EXPECT_TRUE(Stays(absl::StrReplaceAll(kConv, {{"{0.25, 2}", "{0.25, 0}"}})));
}

// 40000 products of up to 255 * 255 may be more than 32 bits hold.
TEST(FoldQuantization, LeavesWhatMightWrapAround) {
  const auto conv = [](const std::string& dtype, int terms) {
    return absl::StrCat(R"(
      graph "g" (%x: u8[1, )",
                        terms, R"(, 1, 1]) -> (%c) {
        const %s: f32[] = {1}
        %d = DequantizeLinear "d" (%x, %s)
        const %w: )",
                        dtype, "[1, ", terms, R"(, 1, 1] = splat 1
        %dw = DequantizeLinear "dw" (%w, %s)
        %c = Conv "c" (%d, %dw)
      })");
  };
  EXPECT_TRUE(Stays(conv("u8", 40000)));
  EXPECT_FALSE(Stays(conv("i8", 40000)));
}

// Whose sums f32 holds as long as weights are of 8 bits.
TEST(FoldQuantization, TakesDepthwiseConvolutionsOfBytes) {
  const auto conv = [](const char* weights) {
    return absl::StrCat(R"(
    graph "g" (%x: u8[1, 2, 3, 3]) -> (%c) {
      const %s: f32[] = {0.5}
      %d = DequantizeLinear "d" (%x, %s)
      const %w: )",
                        weights, R"(
      %dw = DequantizeLinear "dw" (%w, %s)
      %c = Conv "c" (%d, %dw) {group = 2}
    })");
  };
  EXPECT_TRUE(Stays(conv("u8[2, 1, 1, 1] = {1, 200}")));
  EXPECT_FALSE(Stays(conv("i8[2, 1, 1, 1] = {1, -2}")));
}

TEST(FoldQuantization, TakesGemm) {
  const auto gemm = [](int rows, const char* attributes) {
    return absl::StrCat(R"(
    graph "g" (%x: u8[)",
                        rows, R"(, 4]) -> (%c) {
      const %s: f32[] = {0.5}
      const %z: u8[] = {7}
      %d = DequantizeLinear "d" (%x, %s, %z)
      const %w: i8[4, 4] = {1, -2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -15, 16}
      %dw = DequantizeLinear "dw" (%w, %s)
      const %b: f32[4] = {1, 2, 3, 4}
      %c = Gemm "c" (%d, %dw, %b) {)",
                        attributes, R"(}
    })");
  };
  for (const int rows : {1, 2}) {
    for (const char* attributes : {"transB = 0", "transB = 1"}) {
      EXPECT_THAT(Folded(gemm(rows, attributes)), HasSubstr("slipway.IntegerGemm \"c\""));
    }
  }
  EXPECT_TRUE(Stays(gemm(4, "transA = 1")));
  EXPECT_TRUE(Stays(gemm(2, "alpha = 0.5")));
}

// Whose bounds saturating has, too.
TEST(FoldQuantization, DropsBoundsBeforeSaturating) {
  const auto graph = [](const char* bounded) {
    return absl::StrCat(R"(
    graph "g" (%x: f32[1, 2, 3, 3]) -> (%q) {
      const %s: f32[] = {0.5}
      const %z: u8[] = {0}
      const %low: f32[] = {0}
      const %high: f32[] = {127.5}
      const %inside: f32[] = {100}
      %b = )",
                        bounded, R"(
      %q = QuantizeLinear "q" (%b, %s, %z)
    })");
  };
  EXPECT_THAT(Folded(graph("Relu(%x)")), Not(HasSubstr("Relu")));
  EXPECT_THAT(Folded(graph("Clip(%x, %low, %high)")), Not(HasSubstr("Clip")));
  EXPECT_THAT(Folded(graph("Clip(%x, %low, %inside)")), HasSubstr("Clip"));
}

// The standard's own products of integers take the same form.
TEST(FoldQuantization, TakesConvInteger) {
  const std::string after = Folded(R"(
    graph "g" (%x: u8[2, 2, 4, 4]) -> (%c) {
      const %w: i8[4, 1, 3, 2] = splat -3
      const %xz: u8[] = {5}
      const %wz: i8[4] = {0, 1, 2, 3}
      %c = ConvInteger "c" (%x, %w, %xz, %wz) {auto_pad = "SAME_UPPER", group = 2, strides = [2, 1]}
    })");
  EXPECT_NE(after.find("%c = slipway.IntegerConv"), std::string::npos) << after;
  EXPECT_EQ(after.find("ConvInteger"), std::string::npos) << after;
}

// Whose zero point only running tells.
TEST(FoldQuantization, TakesConvIntegerOfAnyZeroPoint) {
  const std::string after = Folded(R"(
    graph "g" (%x: u8[2, 2, 4, 4], %xz: u8[]) -> (%c) {
      const %w: i8[4, 1, 3, 2] = splat -3
      %c = ConvInteger "c" (%x, %w, %xz) {auto_pad = "SAME_UPPER", group = 2}
    })");
  EXPECT_THAT(after, HasSubstr("%c = slipway.IntegerConv"));
  EXPECT_THAT(after, HasSubstr("Sub \"c_centred\""));
}

TEST(FoldQuantization, TakesQLinearConv) {
  const std::string conv = R"(
    graph "g" (%x: u8[1, 2, 4, 4]) -> (%c) {
      const %xs: f32[] = {0.5}
      const %xz: u8[] = {5}
      const %w: i8[2, 2, 1, 1] = {1, 2, -3, 4}
      const %ws: f32[2] = {0.5, 2}
      const %wz: i8[2] = {0, 1}
      const %ys: f32[1] = {4}
      const %yz: i8[1] = {-7}
      const %b: i32[2] = {100, -100}
      %c = QLinearConv "c" (%x, %xs, %xz, %w, %ws, %wz, %ys, %yz, %b)
    })";
  const std::string after = Folded(conv);
  EXPECT_NE(after.find("const %c_scale: f32[2, 1, 1] = {0.0625, 0.25}"), std::string::npos)
      << after;
  EXPECT_EQ(after.find("QLinearConv"), std::string::npos) << after;
  // A scale that is not known before it runs is left to the kernel that is called.
  const std::string open = absl::StrReplaceAll(
      conv, {{"const %xs: f32[] = {0.5}", ""}, {"(%x: u8", "(%xs: f32[], %x: u8"}});
  EXPECT_NE(Folded(open).find("QLinearConv"), std::string::npos);
}

// Rows of several dimensions, between codes; the second product's scales are taken ahead through what shows them.
TEST(FoldQuantization, MultipliesMatricesOfIntegers) {
  const std::string after = Folded(R"(
    graph "g" (%x: f32[2, 3, 4]) -> (%y) {
      const %s: f32[] = {0.25}
      const %z: u8[] = {7}
      %q = QuantizeLinear "q" (%x, %s, %z)
      %d = DequantizeLinear "d" (%q, %s, %z)
      const %w: i8[4, 2] = {1, -2, 3, 4, 5, 6, -7, 8}
      const %ws: f32[2] = {0.5, 2}
      %dw = DequantizeLinear "dw" (%w, %ws) {axis = 1}
      %p = MatMul "p" (%d, %dw)
      const %b: f32[2] = {1, -8}
      %a = Add "a" (%p, %b)
      const %ys: f32[] = {0.5}
      const %yz: u8[] = {128}
      %y = QuantizeLinear "y" (%a, %ys, %yz)
    })");
  EXPECT_THAT(after, HasSubstr("(%q_centred, %p_shown_shape) : i16[6, 4]")) << after;
  EXPECT_THAT(after, HasSubstr("slipway.IntegerGemm \"p\""));
  EXPECT_THAT(after, HasSubstr("const %p_scale_ahead: f32[2] = {0.25, 1}"));
  EXPECT_THAT(after, HasSubstr("const %b_ahead: f32[2] = {2, -16}"));
  // Two scales along the depth are none of columns.
  EXPECT_TRUE(Stays(R"(
    graph "g" (%x: u8[3, 2]) -> (%p) {
      const %s: f32[] = {0.25}
      %d = DequantizeLinear "d" (%x, %s)
      const %w: i8[2, 2] = {1, -2, 3, 4}
      const %ws: f32[2] = {0.5, 2}
      %dw = DequantizeLinear "dw" (%w, %ws) {axis = 0}
      %p = MatMul "p" (%d, %dw)
    })"));
}

// Where only running tells the zero point, as that of DynamicQuantizeLinear, too.
TEST(FoldQuantization, TakesMatMulInteger) {
  const std::string product = R"(
    graph "g" (%x: u8[2, 3, 4], %xz: u8[]) -> (%p) {
      const %w: i8[4, 2] = {1, -2, 3, 4, 5, 6, -7, 8}
      const %wz: i8[2] = {1, 0}
      %p = MatMulInteger "p" (%x, %w, %xz, %wz)
    })";
  const std::string after = Folded(product);
  EXPECT_THAT(after, HasSubstr("slipway.IntegerGemm \"p\""));
  EXPECT_THAT(after, HasSubstr("const %p_sums: i32[2] = {-2, 16}"));
  EXPECT_THAT(after, Not(HasSubstr("MatMulInteger")));
  const std::string known = Folded(absl::StrReplaceAll(
      product, {{", %xz: u8[])", ")"}, {"const %wz", "const %xz: u8[] = {9}\n const %wz"}}));
  EXPECT_THAT(known, HasSubstr("slipway.IntegerGemm \"p\""));
  EXPECT_THAT(known, Not(HasSubstr("p_sums")));
  // One a row, and products by what is not constant.
  EXPECT_TRUE(
      Folded(absl::StrReplaceAll(product, {{"u8[2, 3, 4], %xz: u8[]", "u8[3, 4], %xz: u8[3]"}}))
          .find("MatMulInteger") != std::string::npos);
  EXPECT_TRUE(
      Folded(absl::StrReplaceAll(product, {{"const %w: i8[4, 2] = {1, -2, 3, 4, 5, 6, -7, 8}", ""},
                                           {"%xz: u8[])", "%xz: u8[], %w: i8[4, 2])"}}))
          .find("MatMulInteger") != std::string::npos);
}

TEST(FoldQuantization, TakesQLinearMatMul) {
  const std::string after = Folded(R"(
    graph "g" (%x: u8[2, 3, 4]) -> (%p) {
      const %xs: f32[] = {0.5}
      const %xz: u8[] = {5}
      const %w: i8[4, 2] = {1, -2, 3, 4, 5, 6, -7, 8}
      const %ws: f32[2] = {0.5, 2}
      const %wz: i8[2] = {0, 1}
      const %ys: f32[] = {4}
      const %yz: u8[] = {100}
      %p = QLinearMatMul "p" (%x, %xs, %xz, %w, %ws, %wz, %ys, %yz)
    })");
  EXPECT_THAT(after, HasSubstr("slipway.IntegerGemm \"p\""));
  EXPECT_THAT(after, HasSubstr("const %p_scale: f32[2] = {0.0625, 0.25}"));
}

// A value that somebody else reads is stored as the model says.
TEST(FoldQuantization, KeepsWhatOthersRead) {
  const std::string after = Folded(R"(
    graph "g" (%x: f32[1, 1, 2, 2]) -> (%c, %q) {
      const %s: f32[] = {0.5}
      const %z: i8[] = {1}
      %q = QuantizeLinear "q" (%x, %s, %z)
      %d = DequantizeLinear "d" (%q, %s, %z)
      const %w: i8[1, 1, 1, 1] = {3}
      %dw = DequantizeLinear "dw" (%w, %s)
      %c = Conv "c" (%d, %dw)
    })");
  EXPECT_NE(after.find("%q = QuantizeLinear \"q\" (%x, %s, %z)"), std::string::npos) << after;
  EXPECT_NE(after.find("Sub"), std::string::npos) << after;
}

}  // namespace
}  // namespace slipway
