// Matrix products of the element types that have no lowering, against values worked out by hand.
#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

TEST(MatrixTest, IntegersWrapAround) {
  EXPECT_EQ(ValuesOf("const %a: u8[1, 2] = {200, 100}\nconst %b: u8[2, 1] = {2, 1}",
                     "%y = MatMul(%a, %b)"),
            "u8[1, 1] = {244}");
  EXPECT_EQ(ValuesOf("const %a: i32[2, 1] = {1, 2}\nconst %b: i32[1, 2] = {3, 4}\n"
                     "const %c: i32[2, 1] = {10, 20}",
                     "%y = Gemm(%a, %b, %c) {alpha = 2.5, beta = -1.0}"),
            "i32[2, 2] = {-4, -2, -8, -4}");
}

TEST(MatrixTest, HalvesAreSummedUpBeforeTheyAreRounded) {
  // 2048 + 1 + 1: adding halves one by one would stay at 2048.
  EXPECT_EQ(ValuesOf("const %a: f16[3] = hex \"0068003c003c\"\nconst %b: f16[3] = hex "
                     "\"003c003c003c\"",
                     "%y = MatMul(%a, %b)"),
            "f16[] = hex \"0168\"");
  EXPECT_EQ(ValuesOf("const %a: bf16[1, 1] = hex \"8040\"\nconst %b: bf16[1, 1] = hex \"0040\"\n"
                     "const %c: bf16[] = hex \"803f\"",
                     "%y = Gemm(%a, %b, %c) {transA = 1, transB = 1}"),
            "bf16[1, 1] = hex \"1041\"");
}

TEST(MatrixTest, WithoutAnythingToSumUpProductsAreZero) {
  EXPECT_EQ(ValuesOf("const %a: f32[2, 0] = {}\nconst %b: f32[0, 1] = {}", "%y = MatMul(%a, %b)"),
            "f32[2, 1] = {0, 0}");
}

}  // namespace
}  // namespace slipway
