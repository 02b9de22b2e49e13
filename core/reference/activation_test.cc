// Functions of elements where they are special. ONNX's own cases cover ordinary numbers, math_test their accuracy.
#include <string>

#include "absl/strings/str_cat.h"
#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

// The results for the elements given.
std::string Of(const std::string& node, const std::string& x) {
  return ValuesOf(absl::StrCat("const %x: ", x), absl::StrCat("%y = ", node));
}

TEST(ActivationTest, NanGoesThrough) {
  for (const char* node : {"Celu(%x)",        "Elu(%x)",
                           "Gelu(%x)",        "Gelu(%x) {approximate = \"tanh\"}",
                           "HardSigmoid(%x)", "HardSwish(%x)",
                           "LeakyRelu(%x)",   "Mish(%x)",
                           "PRelu(%x, %x)",   "Relu(%x)",
                           "Selu(%x)",        "Shrink(%x)",
                           "Sigmoid(%x)",     "Softplus(%x)",
                           "Softsign(%x)",    "SwiGLU(%x, %x)",
                           "Swish(%x)",       "ThresholdedRelu(%x)",
                           "Abs(%x)",         "Neg(%x)",
                           "Sign(%x)",        "Sin(%x)",
                           "Acos(%x)",        "Erf(%x)",
                           "Floor(%x)",       "Round(%x)",
                           "Reciprocal(%x)",  "Sqrt(%x)",
                           "Clip(%x)"}) {
    EXPECT_THAT(Of(node, "f32[1] = {nan}"), HasSubstr("nan")) << node;
    EXPECT_THAT(Of(node, "f64[1] = {nan}"), HasSubstr("nan")) << node;
  }
}

TEST(ActivationTest, FarFromZero) {
  EXPECT_EQ(Of("Softplus(%x)", "f32[3] = {1000, -1000, -20}"), "f32[3] = {1000, 0, 2.0611537e-09}");
  EXPECT_EQ(Of("Mish(%x)", "f32[2] = {1000, -1000}"), "f32[2] = {1000, -0}");
  EXPECT_EQ(Of("Sigmoid(%x)", "f32[2] = {-inf, inf}"), "f32[2] = {0, 1}");
  EXPECT_EQ(Of("Gelu(%x)", "f32[2] = {-8, 1000}"), "f32[2] = {-4.9767683e-15, 1000}");
  EXPECT_EQ(Of("Elu(%x)", "f32[2] = {-1000, -1e-10}"), "f32[2] = {-1, -1e-10}");
}

TEST(ActivationTest, IntegersTakePart) {
  EXPECT_EQ(Of("Abs(%x)", "i8[3] = {-128, -1, 5}"), "i8[3] = {-128, 1, 5}");
  EXPECT_EQ(Of("Neg(%x)", "i8[3] = {-128, -1, 0}"), "i8[3] = {-128, 1, 0}");
  EXPECT_EQ(Of("Sign(%x)", "i64[3] = {-9, 0, 7}"), "i64[3] = {-1, 0, 1}");
  EXPECT_EQ(Of("Sign(%x)", "u64[1] = {18446744073709551615}"), "u64[1] = {1}");
  EXPECT_EQ(Of("Shrink(%x) {bias = 1.5, lambd = 2.0}", "i32[4] = {-5, -2, 2, 5}"),
            "i32[4] = {-3, 0, 0, 3}");
  EXPECT_EQ(Of("Shrink(%x) {bias = -1e30, lambd = 0.0}", "i8[2] = {1, -1}"), "i8[2] = {127, -128}");
  EXPECT_EQ(ValuesOf("const %x: i32[2, 2] = {-1, -2, 3, -4} const %s: i32[2, 1] = {10, 20}",
                     "%y = PRelu(%x, %s)"),
            "i32[2, 2] = {-10, -20, 3, -80}");
}

TEST(ActivationTest, SignsOfZeroStay) {
  EXPECT_EQ(Of("Neg(%x)", "f32[2] = {0, -0}"), "f32[2] = {-0, 0}");
  EXPECT_EQ(Of("Sign(%x)", "f32[2] = {-0, -3}"), "f32[2] = {-0, -1}");
  EXPECT_EQ(Of("Ceil(%x)", "f32[1] = {-0.5}"), "f32[1] = {-0}");
  EXPECT_EQ(Of("Reciprocal(%x)", "f32[2] = {-0, inf}"), "f32[2] = {-inf, 0}");
  EXPECT_EQ(Of("Round(%x)", "f32[4] = {-0.5, 0.5, 1.5, 2.5}"), "f32[4] = {-0, 0, 2, 2}");
}

TEST(ActivationTest, HalvesAndBounds) {
  EXPECT_EQ(Of("Exp(%x)", "f16[2] = hex \"003c00cc\""), "f16[2] = hex \"70410200\"");
  EXPECT_EQ(ValuesOf("const %x: u64[2] = {18446744073709551615, 1} const %l: u64[] = {2}",
                     "%y = Clip(%x, %l)"),
            "u64[2] = {18446744073709551615, 2}");
  EXPECT_EQ(ValuesOf("const %x: bf16[2] = hex \"80bf8040\" const %l: bf16[] = hex \"0000\"",
                     "%y = Clip(%x, %l)"),
            "bf16[2] = hex \"00008040\"");
}

TEST(ActivationTest, DropoutThatDropsNothing) {
  EXPECT_EQ(ValuesOf("const %x: f64[2] = {1, 2} const %r: f32[] = {0} const %t: bool[] = {true}",
                     "%y, %m = Dropout(%x, %r, %t)"),
            "f64[2] = {1.0, 2.0}; bool[2] = {true, true}");
  EXPECT_THAT(
      ValuesOf("const %x: f64[2] = {1, 2} const %r: f32[] = {0.5} const %t: bool[] = {true}",
               "%y = Dropout(%x, %r, %t)"),
      HasSubstr("UNIMPLEMENTED"));
}

}  // namespace
}  // namespace slipway
