// Features of classical learning against values worked out by hand.
#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

TEST(FeaturesTest, LabelsThatAreNotKnownBecomeTheDefault) {
  const char* x = "const %x: f32[4] = {1.5, nan, 2, -1}";
  EXPECT_EQ(ValuesOf(x,
                     "%y = ai.onnx.ml.LabelEncoder(%x) {default_int64 = 7, keys_floats = [1.5, "
                     "nan, 1.5], values_int64s = [1, 2, 3]}"),
            "i64[4] = {3, 2, 7, 7}");
  EXPECT_THAT(
      ValuesOf(x, "%y = ai.onnx.ml.LabelEncoder(%x) {keys_int64s = [1], values_int64s = [2]}"),
      HasSubstr("the keys are of type i64, x of type f32"));
  EXPECT_EQ(ValuesOf(x,
                     "%y = ai.onnx.ml.LabelEncoder(%x) {keys_floats = [2.0], values_strings = "
                     "[\"a\"]}"),
            "string[4] = {\"_Unused\", \"_Unused\", \"a\", \"_Unused\"}");
}

TEST(FeaturesTest, GramsAreCounted) {
  const char* x = "const %x: i64[2, 4] = {1, 2, 1, 2, 3, 2, 2, 2}";
  const auto counts = [x](const std::string& attributes) {
    return ValuesOf(x,
                    "%y = TfIdfVectorizer(%x) {max_skip_count = 1, ngram_indexes = [0, 1, 3, 4], "
                    "pool_int64s = [2, 3, 1, 2, 2, 2], " +
                        attributes + "}");
  };
  const std::string both = "max_gram_length = 2, min_gram_length = 1, ngram_counts = [0, 2]";
  EXPECT_EQ(counts(both + ", mode = \"TF\""), "f32[2, 5] = {2, 0, 0, 2, 1, 3, 1, 0, 0, 3}");
  EXPECT_EQ(counts(both + ", mode = \"IDF\", weights = [0.5, 2.0, 3.0, 4.0]"),
            "f32[2, 5] = {0.5, 0, 0, 3, 4, 0.5, 2, 0, 0, 4}");
  EXPECT_EQ(
      counts("max_gram_length = 2, min_gram_length = 2, ngram_counts = [0, 2], mode = \"TF\""),
      "f32[2, 5] = {0, 0, 0, 2, 1, 0, 0, 0, 0, 3}");
  EXPECT_THAT(counts(both + ", mode = \"TF\", weights = [1.0]"),
              HasSubstr("1 weights for 4 \"ngram_indexes\""));
  EXPECT_THAT(
      counts("max_gram_length = 2, min_gram_length = 1, ngram_counts = [0, 1], mode = \"TF\""),
      HasSubstr("grams of length 2 cannot lie in [1, 6) of a pool of 6"));
}

TEST(FeaturesTest, MissingValuesAreReplaced) {
  EXPECT_EQ(ValuesOf("const %x: f32[2, 2] = {nan, 1, 2, nan}",
                     "%y = ai.onnx.ml.Imputer(%x) {imputed_value_floats = [5.0, 6.0], "
                     "replaced_value_float = nan}"),
            "f32[2, 2] = {5, 1, 2, 6}");
}

TEST(FeaturesTest, RowsAreNormalized) {
  const char* x = "const %x: i64[2, 2] = {3, -4, 0, 0}";
  EXPECT_EQ(ValuesOf(x, "%y = ai.onnx.ml.Normalizer(%x) {norm = \"L2\"}"),
            "f32[2, 2] = {0.6, -0.8, 0, 0}");
  EXPECT_EQ(ValuesOf(x, "%y = ai.onnx.ml.Normalizer(%x)"), "f32[2, 2] = {1, -1.3333334, 0, 0}");
}

TEST(FeaturesTest, CategoriesAndIndicesMustExist) {
  const char* x = "const %x: i64[2] = {2, 9}\nconst %i: i64[1] = {2}";
  EXPECT_EQ(ValuesOf(x, "%y = ai.onnx.ml.OneHotEncoder(%x) {cats_int64s = [1, 2]}"),
            "f32[2, 2] = {0, 1, 0, 0}");
  EXPECT_THAT(ValuesOf(x, "%y = ai.onnx.ml.OneHotEncoder(%x) {cats_int64s = [1, 2], zeros = 0}"),
              HasSubstr("of no category"));
  EXPECT_THAT(ValuesOf(x, "%y = ai.onnx.ml.ArrayFeatureExtractor(%x, %i)"),
              HasSubstr("an index (input 1) is outside of x"));
}

}  // namespace
}  // namespace slipway
