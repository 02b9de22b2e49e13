// Arithmetic, matrices, reductions, normalizations, casts, constants and groups.
#include "core/operators/register_all.h"

#include <string>

#include "absl/status/status.h"
#include "core/operators/type_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

TEST(RegisterAllTest, RegistersOnce) {
  OperatorRegistry registry = StandardOperators();
  EXPECT_EQ(RegisterAllOperators(registry).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_GE(registry.Names().size(), 50u);
}

TEST(RegisterAllTest, BlockedFormsExist) {
  const OperatorRegistry registry = StandardOperators();
  for (const std::string& name : registry.Names()) {
    const LayoutTrait& layout = registry.Find(name)->layout;
    const bool convolution = layout.role == LayoutRole::kConvolution;
    const bool needs_one = convolution || layout.role == LayoutRole::kWindow;
    EXPECT_EQ(registry.Find(layout.blocked) != nullptr, needs_one) << name;
    EXPECT_EQ(registry.Find(layout.blocked_depthwise) != nullptr, convolution) << name;
  }
}

TEST(TypeRuleTest, Arithmetic) {
  EXPECT_EQ(TypeOf("%a: f32[2, 1, 3], %b: f32[4, 1]", "%y = Add(%a, %b)"), "f32[2, 4, 3]");
  EXPECT_EQ(TypeOf("%a: f32[3], %b: f32[2, 1], %c: f32[]", "%y = Sum(%a, %b, %c)"), "f32[2, 3]");
  EXPECT_EQ(TypeOf("%a: f32[3], %b: i64[3]", "%y = Pow(%a, %b)"), "f32[3]");
  EXPECT_THAT(TypeOf("%a: f32[2], %b: f32[3]", "%y = Mul(%a, %b)"), HasSubstr("INVALID_ARGUMENT"));
  EXPECT_THAT(TypeOf("%a: f32[2], %b: i64[2]", "%y = Mul(%a, %b)"), HasSubstr("of type i64"));
  EXPECT_THAT(TypeOf("%a: bool[2]", "%y = Max(%a)"), HasSubstr("UNIMPLEMENTED"));
  EXPECT_THAT(TypeOf("%a: f32[2]", "%y = Sum(%a, _)"), HasSubstr("input 1 is omitted"));
}

TEST(TypeRuleTest, Matrices) {
  EXPECT_EQ(TypeOf("%a: f32[2, 1, 3, 4], %b: f32[5, 4, 6]", "%y = MatMul(%a, %b)"),
            "f32[2, 5, 3, 6]");
  EXPECT_EQ(TypeOf("%a: f32[4], %b: f32[4]", "%y = MatMul(%a, %b)"), "f32[]");
  EXPECT_EQ(TypeOf("%a: f32[4], %b: f32[2, 4, 3]", "%y = MatMul(%a, %b)"), "f32[2, 3]");
  EXPECT_EQ(TypeOf("%a: f32[2, 3, 4], %b: f32[4]", "%y = MatMul(%a, %b)"), "f32[2, 3]");
  EXPECT_THAT(TypeOf("%a: f32[2, 3], %b: f32[2, 3]", "%y = MatMul(%a, %b)"),
              HasSubstr("cannot be multiplied"));
  EXPECT_EQ(TypeOf("%a: f32[4, 2], %b: f32[3, 4], %c: f32[3]",
                   "%y = Gemm(%a, %b, %c) {transA = 1, transB = 1}"),
            "f32[2, 3]");
  EXPECT_THAT(TypeOf("%a: f32[2, 4], %b: f32[4, 3], %c: f32[2]", "%y = Gemm(%a, %b, %c)"),
              HasSubstr("c of shape [2] does not broadcast to [2, 3]"));
  EXPECT_EQ(
      TypeOf("%x: f32[2, 4], %w: f32[2, 4, 8]", "%y = slipway.GemmPacked(%x, %w) {columns = 10}"),
      "f32[2, 10]");
  EXPECT_THAT(
      TypeOf("%x: f32[2, 4], %w: f32[2, 4, 8]", "%y = slipway.GemmPacked(%x, %w) {columns = 17}"),
      HasSubstr("17 columns do not fit"));
  const auto of_pairs = [](const char* w) {
    return TypeOf(absl::StrCat("%x: bf16[2, 4], %w: ", w, ", %b: f32[10]"),
                  "%y = slipway.GemmPacked(%x, %w, %b) {columns = 10}");
  };
  EXPECT_EQ(of_pairs("bf16[2, 2, 8, 2]"), "f32[2, 10]");
  EXPECT_THAT(of_pairs("bf16[2, 4, 8, 1]"), HasSubstr("1 numbers innermost where 2 are needed"));
  EXPECT_THAT(of_pairs("bf16[2, 3, 8, 2]"), HasSubstr("cannot be multiplied"));
  EXPECT_THAT(of_pairs("f32[2, 2, 8, 2]"), HasSubstr("f32"));
  EXPECT_THAT(of_pairs("bf16[2, 4, 8]"), HasSubstr("rank"));
  EXPECT_EQ(TypeOf("%x: i16[n, 4], %w: i16[4, 3]", "%y = slipway.IntegerGemm(%x, %w)"),
            "i32[n, 3]");
  EXPECT_THAT(TypeOf("%x: i16[2, 4], %w: i16[5, 3]", "%y = slipway.IntegerGemm(%x, %w)"),
              HasSubstr("cannot be multiplied"));
  EXPECT_THAT(TypeOf("%x: u8[2, 4], %w: i8[4, 3]", "%y = slipway.IntegerGemm(%x, %w)"),
              HasSubstr("u8"));
  const auto of_integers = [](const char* inputs) {
    return TypeOf(inputs, "%y = slipway.GemmPacked(%x, %w, %b) {columns = 10}");
  };
  EXPECT_EQ(of_integers("%x: u8[2, 8], %w: i8[2, 2, 8, 4], %b: i32[10]"), "i32[2, 10]");
  EXPECT_THAT(of_integers("%x: u8[2, 8], %w: i8[2, 2, 8, 4], %b: f32[10]"), HasSubstr("f32"));
  EXPECT_THAT(of_integers("%x: u8[2, 6], %w: i8[2, 2, 8, 4], %b: i32[10]"),
              HasSubstr("cannot be multiplied"));
  EXPECT_THAT(of_integers("%x: u8[2, 8], %w: i8[2, 4, 8, 2], %b: i32[10]"),
              HasSubstr("2 numbers innermost where 4 are needed"));
  EXPECT_THAT(of_integers("%x: i16[2, 8], %w: i16[2, 4, 8, 2], %b: i32[10]"),
              HasSubstr("has no bias"));
}

TEST(TypeRuleTest, ProductsOfHalves) {
  const auto matrix = [](const char* x, const char* w) {
    return TypeOf(absl::StrCat("%x: ", x, ", %w: ", w, ", %b: f32[16]"),
                  "%y = slipway.StrassenGemm(%x, %w, %b)");
  };
  EXPECT_EQ(matrix("f32[3, 6]", "f32[2, 7, 3, 4]"), "f32[3, 16]");
  EXPECT_THAT(matrix("f32[3, 7]", "f32[2, 7, 3, 4]"), HasSubstr("cannot be multiplied"));
  EXPECT_THAT(matrix("f32[3, 6]", "f32[2, 8, 3, 4]"), HasSubstr("[N/2/n, 7, K/2, n] is needed"));
  EXPECT_THAT(matrix("f32[3, 6]", "f32[1, 7, 3, 4]"), HasSubstr("where [8] is needed"));
  EXPECT_THAT(matrix("f64[3, 6]", "f64[2, 7, 3, 4]"), HasSubstr("f64"));
  const auto image = [](const char* x, const char* w) {
    return TypeOf(absl::StrCat("%x: ", x, ", %w: ", w, ", %b: f32[16]"),
                  "%y = slipway.StrassenConvNCHWc(%x, %w, %b)");
  };
  EXPECT_EQ(image("f32[2, 4, 3, 5, 8]", "f32[2, 7, 16, 4]"), "f32[2, 4, 3, 5, 4]");
  EXPECT_THAT(image("f32[2, 3, 3, 5, 8]", "f32[2, 7, 12, 4]"), HasSubstr("does not fit x"));
  EXPECT_THAT(image("f32[2, 4, 3, 5, 8]", "f32[2, 7, 8, 4]"), HasSubstr("does not fit x"));
  EXPECT_THAT(image("f32[2, 4, 3, 5, 8]", "f32[2, 6, 16, 4]"),
              HasSubstr("[Co/2/co, 7, Ci/2, co] is needed"));
  EXPECT_THAT(image("f32[2, 0, 3, 5, 8]", "f32[2, 7, 0, 4]"),
              HasSubstr("[Co/2/co, 7, Ci/2, co] is needed"));
}

TEST(TypeRuleTest, Reductions) {
  EXPECT_EQ(TypeOf("%x: f32[2, 3, 4]", "const %a: i64[2] = {-1, 0} %y = ReduceMean(%x, %a)"),
            "f32[1, 3, 1]");
  EXPECT_EQ(
      TypeOf("%x: f32[2, 3, 4]", "const %a: i64[1] = {1} %y = ReduceMax(%x, %a) {keepdims = 0}"),
      "f32[2, 4]");
  EXPECT_EQ(TypeOf("%x: f32[2, 3]",
                   "const %a: i64[0] = {} %y = ReduceMean(%x, %a) {noop_with_empty_axes = 1}"),
            "f32[2, 3]");
  EXPECT_EQ(TypeOf("%x: f32[2, 3, 1], %a: i64[1]", "%y = ReduceMax(%x, %a)"), "f32[?, ?, 1]");
  EXPECT_EQ(TypeOf("%x: f32[2, 3], %a: i64[1]", "%y = ReduceMax(%x, %a) {keepdims = 0}"), "f32[?]");
  EXPECT_THAT(TypeOf("%x: f32[2, 3], %a: i64[3]", "%y = ReduceMax(%x, %a)"),
              HasSubstr("3 axes of f32[2, 3]"));
  EXPECT_THAT(TypeOf("%x: f32[2, 3], %a: i64[?]", "%y = ReduceMax(%x, %a)"),
              HasSubstr("the axes (input 1) must be known"));
  EXPECT_EQ(TypeOf("%x: f32[2, 3]", "%y = ReduceSum(%x) {keepdims = 0}"), "f32[]");
  EXPECT_EQ(TypeOf("%x: f32[2, 3]", "%y = ReduceSum(%x) {noop_with_empty_axes = 1}"), "f32[2, 3]");
  EXPECT_THAT(TypeOf("%x: f32[2, 3]", "const %a: i64[2] = {0, -2} %y = ReduceMax(%x, %a)"),
              HasSubstr("twice"));
  EXPECT_EQ(TypeOf("%x: f32[2, 0]", "%y = ReduceMax(%x)"), "f32[1, 1]");
  EXPECT_THAT(TypeOf("%x: f32[2, 0]", "%y = ArgMin(%x) {axis = 1}"), HasSubstr("empty"));
  EXPECT_THAT(TypeOf("%x: i32[2]", "%y = ReduceLogSum(%x)"), HasSubstr("UNIMPLEMENTED"));
  EXPECT_EQ(TypeOf("%x: f32[b, 2], %a: i64[]", "%y = CumSum(%x, %a)"), "f32[b, 2]");
  EXPECT_THAT(TypeOf("%x: f32[2], %a: i64[2]", "%y = CumSum(%x, %a)"), HasSubstr("must be one"));
  EXPECT_EQ(TypeOf("%x: f32[2, 3]", "%y = ArgMax(%x) {axis = 1, keepdims = 0}"), "i64[2]");
}

TEST(TypeRuleTest, Normalizations) {
  EXPECT_EQ(TypeOf("%x: f32[2, 3]", "%y = Softmax(%x) {axis = -2}"), "f32[2, 3]");
  EXPECT_THAT(TypeOf("%x: f32[2, 3]", "%y = Softmax(%x) {axis = 2}"), HasSubstr("outside"));
  EXPECT_THAT(TypeOf("%x: f32[2, 3], %v: f32[2]", "%y = BatchNormalization(%x, %v, %v, %v, %v)"),
              HasSubstr("input 1 has the shape [2] where [3] is needed"));
  const std::string channels = "%x: f32[2, 4, 3], %v: f32[4]";
  EXPECT_EQ(
      TypeOf(channels, "%y, %m, %s = BatchNormalization(%x, %v, %v, %v, %v) {training_mode = 1}"),
      "f32[2, 4, 3]; f32[4]; f32[4]");
  EXPECT_THAT(TypeOf(channels, "%y, %m = BatchNormalization(%x, %v, %v, %v, %v)"),
              HasSubstr("in training mode alone"));
  EXPECT_EQ(TypeOf(channels, "%y = InstanceNormalization(%x, %v, %v)"), "f32[2, 4, 3]");
  EXPECT_THAT(TypeOf(channels, "%y = GroupNormalization(%x, %v, %v) {num_groups = 3}"),
              HasSubstr("does not divide 4 channels"));
  EXPECT_EQ(TypeOf("%x: f16[b, 4, w], %s: f16[4, 1]",
                   "%y, %m, %i = LayerNormalization(%x, %s) {axis = 1}"),
            "f16[b, 4, w]; f32[b, 1, 1]; f32[b, 1, 1]");
  EXPECT_EQ(TypeOf("%x: f16[b, 4], %s: f32[4]", "%y = RMSNormalization(%x, %s)"), "f32[b, 4]");
  EXPECT_THAT(TypeOf("%x: f32[4], %s: f32[2, 1]", "%y = LayerNormalization(%x, %s)"),
              HasSubstr("input 1 of shape [2, 1] does not broadcast to [4]"));
  EXPECT_THAT(TypeOf("%x: f32[4]", "%y = LpNormalization(%x) {p = 3}"), HasSubstr("1 or 2"));
  EXPECT_THAT(TypeOf("%x: f32[4, 2]", "%y = MeanVarianceNormalization(%x)"), HasSubstr("axis 2"));
  EXPECT_THAT(TypeOf("%x: f32[2, 3]", "%y = LRN(%x) {size = 0}"), HasSubstr("must be > 0"));
}

TEST(TypeRuleTest, CastsClipsAndDropouts) {
  EXPECT_EQ(TypeOf("%x: f32[2]", "%y = Cast(%x) {to = 7}"), "i64[2]");
  EXPECT_EQ(TypeOf("%x: f32[2]", "%y = Cast(%x) {to = 7, saturate = 0, round_mode = \"down\"}"),
            "i64[2]");
  EXPECT_EQ(TypeOf("%x: f32[2]", "%y = Cast(%x) {to = 8}"), "string[2]");
  EXPECT_THAT(TypeOf("%x: bool[2]", "%y = Cast(%x) {to = 8}"), HasSubstr("UNIMPLEMENTED"));
  EXPECT_THAT(TypeOf("%x: f32[2]", "%y = Cast(%x) {to = 99}"), HasSubstr("node \"y\" (Cast)"));
  EXPECT_EQ(TypeOf("%x: f32[2], %b: f32[]", "%y = Clip(%x, _, %b)"), "f32[2]");
  EXPECT_THAT(TypeOf("%x: f32[2], %b: f32[2]", "%y = Clip(%x, %b)"), HasSubstr("not one number"));
  EXPECT_EQ(TypeOf("%x: f32[2]", "%y, %m = Dropout(%x)"), "f32[2]; bool[2]");
  EXPECT_THAT(TypeOf("%x: f32[2]", "const %t: bool[] = {true} %y = Dropout(%x, _, %t)"),
              HasSubstr("training mode is not supported"));
  EXPECT_EQ(TypeOf("%x: f16[2]",
                   "const %t: bool[] = {true} const %r: f32[] = {0}"
                   " %y, %m = Dropout(%x, %r, %t)"),
            "f16[2]; bool[2]");
}

TEST(TypeRuleTest, Activations) {
  EXPECT_EQ(TypeOf("%x: i32[2, 3], %s: i32[3]", "%y = PRelu(%x, %s)"), "i32[2, 3]");
  EXPECT_THAT(TypeOf("%x: f32[3], %s: f32[2, 1]", "%y = PRelu(%x, %s)"),
              HasSubstr("a slope of shape [2, 1] does not broadcast to [3]"));
  EXPECT_THAT(TypeOf("%a: f32[2, 3], %b: f32[3]", "%y = SwiGLU(%a, %b)"), HasSubstr("not alike"));
  EXPECT_THAT(TypeOf("%x: f32[2]", "%y = Gelu(%x) {approximate = \"erf\"}"),
              HasSubstr("\"approximate\" is \"erf\""));
  EXPECT_EQ(TypeOf("%x: f32[b, ?]", "%y = Size(%x)"), "i64[]");
}

TEST(TypeRuleTest, Constants) {
  EXPECT_EQ(TypeOf("", "%y = Constant() {value = f32[2] {1, 2}}"), "f32[2]");
  EXPECT_EQ(TypeOf("", "%y = Constant() {value_ints = [1, 2, 3]}"), "i64[3]");
  EXPECT_THAT(TypeOf("", "%y = Constant()"), HasSubstr("has 0 attributes"));
  EXPECT_EQ(TypeOf("", "const %s: i64[2] = {2, 3} %y = ConstantOfShape(%s)"), "f32[2, 3]");
  EXPECT_EQ(TypeOf("", "const %s: i64[0] = {} %y = ConstantOfShape(%s) {value = i64[1] {7}}"),
            "i64[]");
  EXPECT_THAT(TypeOf("", "const %s: i64[1] = {-1} %y = ConstantOfShape(%s)"),
              HasSubstr("node \"y\" (ConstantOfShape)"));
  EXPECT_THAT(TypeOf("",
                     "const %s: i64[3] = {2000000000, 2000000000, 2000000000}"
                     " %y = ConstantOfShape(%s)"),
              HasSubstr("RESOURCE_EXHAUSTED"));
}

TEST(TypeRuleTest, CallsMatchTheirBodies) {
  const auto body = [](const char* node) {
    return std::string(
               "{kernel = \"k\", body = graph \"b\" (%i: f32[2]) -> (%o) { const %c: f32[1] = "
               "{1} ") +
           node + " : f32[2] }}";
  };
  const std::string inputs = "%p: i64[3], %x: f32[2], %c: f32[1]";
  EXPECT_EQ(TypeOf(inputs, "%y = slipway.Call(%p, %x, %c) " + body("%o = Add(%i, %c)")), "f32[2]");
  EXPECT_THAT(TypeOf(inputs, "%y = slipway.Call(%x, %x, %c) " + body("%o = Add(%i, %c)")),
              HasSubstr("input 0 must be i64[n], not f32[2]"));
  EXPECT_THAT(TypeOf(inputs, "%y = slipway.Call(%p, %c, %x) " + body("%o = Add(%i, %c)")),
              HasSubstr("input 1 has another type than the body's \"i\""));
  EXPECT_THAT(TypeOf(inputs, "%y = slipway.Call(%p, %x) " + body("%o = Add(%i, %c)")),
              HasSubstr("has 2 inputs and 1 outputs, by its body it must have 3 and 1"));
  EXPECT_THAT(TypeOf(inputs, "%y = slipway.Call(%p, %c) " + body("%o = Relu(%c)")),
              HasSubstr("its body's node does not read \"i\""));
}

TEST(TypeRuleTest, FusedGroupsMatchTheirBodies) {
  const std::string body = "{body = graph \"b\" (%i: f32[2]) -> (%o) { %o = Relu(%i) : f32[2] }}";
  EXPECT_EQ(TypeOf("%x: f32[2]", "%y = slipway.Fused(%x) " + body), "f32[2]");
  EXPECT_THAT(TypeOf("%x: f32[3]", "%y = slipway.Fused(%x) " + body),
              HasSubstr("input 0 has another type than the body's \"i\""));
  EXPECT_THAT(TypeOf("%x: f32[2]", "%y, %z = slipway.Fused(%x) " + body),
              HasSubstr("has 1 inputs and 2 outputs, by its body it must have 1 and 1"));
}

}  // namespace
}  // namespace slipway
