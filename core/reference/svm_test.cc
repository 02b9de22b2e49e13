// Support vector machines against values worked out by hand.
#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

constexpr char kRows[] = "const %x: f32[2, 2] = {1, 2, -1, 0}";

TEST(SvmTest, RegressorsSumOverVectorsOrFeatures) {
  EXPECT_EQ(ValuesOf(kRows,
                     "%y = ai.onnx.ml.SVMRegressor(%x) {coefficients = [2.0, -1.0], kernel_params "
                     "= [1.0, 1.0, 2.0], kernel_type = \"POLY\", n_supports = 2, rho = [0.5], "
                     "support_vectors = [1.0, 0.0, 0.0, 1.0]}"),
            "f32[2, 1] = {-0.5, -0.5}");
  const std::string linear =
      "%y = ai.onnx.ml.SVMRegressor(%x) {coefficients = [3.0, 1.0], rho = [0.5]";
  EXPECT_EQ(ValuesOf(kRows, linear + "}"), "f32[2, 1] = {5.5, -2.5}");
  EXPECT_EQ(ValuesOf(kRows, linear + ", one_class = 1}"), "f32[2, 1] = {1, -1}");
}

TEST(SvmTest, PairsOfClassesVote) {
  // Scores of the pairs (0, 1), (0, 2), (1, 2) are x0 - x1, x0 and x1 with one vector a class: (1, 0), (0, 1), (0, 0).
  const std::string three =
      "%y, %z = ai.onnx.ml.SVMClassifier(%x) {classlabels_ints = [5, 6, 7], coefficients = [1.0, "
      "-1.0, 0.0, 1.0, 1.0, 0.0], rho = [0.0, 0.0, 0.0], support_vectors = [1.0, 0.0, 0.0, 1.0, "
      "0.0, 0.0], vectors_per_class = [1, 1, 1]";
  EXPECT_EQ(ValuesOf(kRows, three + "}"), "i64[2] = {6, 7}; f32[2, 3] = {-1, 1, 2, -1, -1, 0}");
  const std::string two =
      "%y, %z = ai.onnx.ml.SVMClassifier(%x) {classlabels_ints = [5, 6], coefficients = [1.0, "
      "0.0], rho = [0.0], support_vectors = [1.0, 0.0, 0.0, 0.0], vectors_per_class = [1, 1]";
  EXPECT_EQ(ValuesOf(kRows, two + "}"), "i64[2] = {5, 6}; f32[2, 2] = {-1, 1, 1, -1}");
  EXPECT_EQ(ValuesOf(kRows, two + ", prob_a = [0.0], prob_b = [0.0]}"),
            "i64[2] = {5, 6}; f32[2, 2] = {0.5, 0.5, 0.5, 0.5}");
}

TEST(SvmTest, RefusesListsThatDoNotFit) {
  const auto classifier = [](const std::string& attributes) {
    return ValuesOf(kRows, "%y = ai.onnx.ml.SVMClassifier(%x) {" + attributes + "}");
  };
  EXPECT_THAT(classifier("classlabels_strings = [\"a\", \"b\"]"), HasSubstr("UNIMPLEMENTED"));
  EXPECT_THAT(classifier("classlabels_ints = [0, 1], vectors_per_class = [9, 1]"),
              HasSubstr("\"vectors_per_class\" holds 9"));
  EXPECT_THAT(classifier("classlabels_ints = [0, 1], coefficients = [1.0], rho = [0.0], "
                         "support_vectors = [1.0, 2.0, 3.0, 4.0], vectors_per_class = [1, 1]"),
              HasSubstr("\"coefficients\" has 1 entries, 2 are needed"));
  EXPECT_THAT(
      ValuesOf(kRows, "%y = ai.onnx.ml.SVMRegressor(%x) {coefficients = [1.0], rho = [0.0]}"),
      HasSubstr("x has 2 features, support vectors have 1"));
}

}  // namespace
}  // namespace slipway
