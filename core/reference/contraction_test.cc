// Einsum and Det against values worked out by hand.
#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

constexpr char kMatrix[] =
    "const %x: i32[2, 3] = {1, 2, 3, 4, 5, 6}\nconst %s: i32[2, 2] = {1, 2, 3, 4}\n";

TEST(EinsumTest, WithoutAnArrowLettersThatStandAloneStay) {
  EXPECT_EQ(ValuesOf(kMatrix, "%y = Einsum(%x) {equation = \"ba\"}"),
            "i32[3, 2] = {1, 4, 2, 5, 3, 6}");
  EXPECT_EQ(ValuesOf(kMatrix, "%y = Einsum(%s) {equation = \"ii\"}"), "i32[] = {5}");
  EXPECT_EQ(ValuesOf(kMatrix, "%y = Einsum(%s) {equation = \"i i -> i\"}"), "i32[2] = {1, 4}");
}

TEST(EinsumTest, EllipsesBroadcast) {
  EXPECT_EQ(ValuesOf(std::string(kMatrix) + "const %b: i32[1, 3] = {10, 20, 30}",
                     "%y = Einsum(%x, %b) {equation = \"...,...\"}"),
            "i32[2, 3] = {10, 40, 90, 40, 100, 180}");
  EXPECT_EQ(ValuesOf(kMatrix, "%y = Einsum(%x) {equation = \"...->\"}"), "i32[] = {21}");
}

TEST(EinsumTest, EmptySumsAreZero) {
  EXPECT_EQ(ValuesOf("const %x: f32[2, 0] = {}", "%y = Einsum(%x) {equation = \"ij->i\"}"),
            "f32[2] = {0, 0}");
}

TEST(EinsumTest, SaysWhatIsWrongWithAnEquation) {
  const struct {
    const char* equation;
    const char* message;
  } cases[] = {{"i", "does not fit an input of rank 2"},
               {"ij,jk", "does not fit 1 inputs"},
               {"i.j", "is no list of letters"},
               {"ij->k", "a letter in its output that no input has"},
               {"ij->ii", "a letter twice in its output"},
               {"ii", "cannot"}};
  for (const auto& c : cases) {
    EXPECT_THAT(
        ValuesOf(kMatrix, std::string("%y = Einsum(%x) {equation = \"") + c.equation + "\"}"),
        HasSubstr(c.message));
  }
}

TEST(DetTest, OfEveryMatrix) {
  EXPECT_EQ(ValuesOf("const %x: f32[2, 2, 2] = {0, 1, 1, 0, 1, 2, 2, 4}", "%y = Det(%x)"),
            "f32[2] = {-1, 0}");
  EXPECT_EQ(ValuesOf("const %x: f64[0, 0] = {}", "%y = Det(%x)"), "f64[] = {1.0}");
  EXPECT_THAT(ValuesOf("const %x: f32[2, 3] = splat 1", "%y = Det(%x)"),
              HasSubstr("are not square"));
}

}  // namespace
}  // namespace slipway
