#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

TEST(StringsTest, CastsNumbersToTextAndBack) {
  EXPECT_EQ(ValuesOf("const %x: f32[4] = {0.1, -5, 1e-7, inf}", "%y = Cast(%x) {to = 8}"),
            "string[4] = {\"0.1\", \"-5.0\", \"1e-07\", \"INF\"}");
  EXPECT_EQ(ValuesOf("const %x: i8[2] = {-128, 7}", "%y = Cast(%x) {to = 8}"),
            "string[2] = {\"-128\", \"7\"}");
  EXPECT_EQ(
      ValuesOf("const %x: string[3] = {\"3.25\", \"-1e2\", \"NaN\"}", "%y = Cast(%x) {to = 1}"),
      "f32[3] = {3.25, -100, nan}");
  EXPECT_EQ(ValuesOf("const %x: string[2] = {\"300\", \"-2\"}", "%y = Cast(%x) {to = 6}"),
            "i32[2] = {300, -2}");
  EXPECT_EQ(
      ValuesOf("const %x: string[1] = {\"a\"}\nconst %l: string[0] = {}", "%y = CastLike(%x, %l)"),
      "string[1] = {\"a\"}");
  EXPECT_THAT(ValuesOf("const %x: string[1] = {\"one\"}", "%y = Cast(%x) {to = 1}"),
              HasSubstr("INVALID_ARGUMENT: node \"y\" (Cast)"));
  EXPECT_THAT(ValuesOf("const %x: bool[1] = {true}", "%y = Cast(%x) {to = 8}"),
              HasSubstr("UNIMPLEMENTED: node \"y\" (Cast): casting bool to string"));
}

TEST(StringsTest, MovesThemLikeAnyElement) {
  const char* const kX = "const %x: string[2, 2] = {\"a\", \"bb\", \"\", \"dddd\"}\n";
  EXPECT_EQ(ValuesOf(kX, "%y = Transpose(%x)"), "string[2, 2] = {\"a\", \"\", \"bb\", \"dddd\"}");
  EXPECT_EQ(ValuesOf(std::string(kX) + "const %i: i64[3] = {1, 0, 1}", "%y = Gather(%x, %i)"),
            "string[3, 2] = {\"\", \"dddd\", \"a\", \"bb\", \"\", \"dddd\"}");
  EXPECT_EQ(ValuesOf(std::string(kX) + "const %z: string[1, 2] = {\"e\", \"a\"}",
                     "%y = Concat(%x, %z, %x) {axis = 0}"),
            "string[5, 2] = {\"a\", \"bb\", \"\", \"dddd\", \"e\", \"a\", \"a\", \"bb\", \"\", "
            "\"dddd\"}");
  EXPECT_EQ(ValuesOf(std::string(kX) +
                         "const %c: bool[2, 2] = {true, false, true, false}\nconst %z: string[] = "
                         "{\"no\"}",
                     "%y = Where(%c, %x, %z)"),
            "string[2, 2] = {\"a\", \"no\", \"\", \"no\"}");
  EXPECT_EQ(ValuesOf(kX, "%y, %z = Split(%x) {axis = 1, num_outputs = 2}"),
            "string[2, 1] = {\"a\", \"\"}; string[2, 1] = {\"bb\", \"dddd\"}");
  EXPECT_EQ(ValuesOf(kX, "%y = Shape(%x)"), "i64[2] = {2, 2}");
  EXPECT_EQ(ValuesOf(std::string(kX) + "const %p: i64[4] = {0, 1, 0, 0}", "%y = Pad(%x, %p)"),
            "string[2, 3] = {\"\", \"a\", \"bb\", \"\", \"\", \"dddd\"}");
  EXPECT_THAT(ValuesOf(kX, "%y = Add(%x, %x)"), HasSubstr("UNIMPLEMENTED"));
  EXPECT_THAT(ValuesOf(kX, "%y = NonZero(%x)"), HasSubstr("UNIMPLEMENTED"));
}

TEST(StringsTest, ComparesThem) {
  EXPECT_EQ(ValuesOf("const %x: string[2, 1] = {\"a\", \"ab\"}\nconst %z: string[3] = {\"ab\", "
                     "\"\", \"a\"}",
                     "%y = Equal(%x, %z)"),
            "bool[2, 3] = {false, false, true, true, false, false}");
  EXPECT_EQ(ValuesOf("const %x: string[5] = {\"b\", \"a\", \"b\", \"\\xff\", \"ab\"}",
                     "%y, %i, %r, %n = Unique(%x)"),
            "string[4] = {\"a\", \"ab\", \"b\", \"\\xff\"}; i64[4] = {1, 4, 0, 3}; i64[5] = {2, 0, "
            "2, 3, 1}; i64[4] = {1, 1, 2, 1}");
}

TEST(StringsTest, JoinsAndSplits) {
  EXPECT_EQ(ValuesOf("const %x: string[2, 1] = {\"a\", \"\"}\nconst %z: string[2] = {\"b\", \"\"}",
                     "%y = StringConcat(%x, %z)"),
            "string[2, 2] = {\"ab\", \"a\", \"b\", \"\"}");
  const char* const kX = "const %x: string[2] = {\"a,b,,c\", \"\"}\n";
  EXPECT_EQ(ValuesOf(kX, "%y, %n = StringSplit(%x) {delimiter = \",\"}"),
            "string[2, 4] = {\"a\", \"b\", \"\", \"c\", \"\", \"\", \"\", \"\"}; i64[2] = {4, 1}");
  EXPECT_EQ(ValuesOf(kX, "%y, %n = StringSplit(%x) {delimiter = \",\", maxsplit = 1}"),
            "string[2, 2] = {\"a\", \"b,,c\", \"\", \"\"}; i64[2] = {2, 1}");
  EXPECT_EQ(ValuesOf("const %x: string[2] = {\"  a \\t b c \", \" \"}",
                     "%y, %n = StringSplit(%x) {maxsplit = 1}"),
            "string[2, 2] = {\"a\", \"b c\", \"\", \"\"}; i64[2] = {2, 0}");
}

TEST(StringsTest, Normalizes) {
  EXPECT_EQ(ValuesOf("const %x: string[1, 3] = {\"Monday\", \"\\xc3\\x84gypten\", \"monday\"}",
                     "%y = StringNormalizer(%x) {stopwords = [\"MONDAY\"], case_change_action = "
                     "\"LOWER\"}"),
            "string[1, 1] = {\"\\xc3\\xa4gypten\"}");
  EXPECT_EQ(ValuesOf("const %x: string[2] = {\"a\", \"A\"}",
                     "%y = StringNormalizer(%x) {stopwords = [\"a\"], is_case_sensitive = 1}"),
            "string[1] = {\"A\"}");
  EXPECT_EQ(ValuesOf("const %x: string[2] = {\"a\", \"A\"}",
                     "%y = StringNormalizer(%x) {stopwords = [\"a\"]}"),
            "string[1] = {\"\"}");
  // What is no UTF-8 stays.
  EXPECT_EQ(ValuesOf("const %x: string[1] = {\"a\\xc3\"}",
                     "%y = StringNormalizer(%x) {case_change_action = \"UPPER\"}"),
            "string[1] = {\"A\\xc3\"}");
}

TEST(StringsTest, MatchesExpressions) {
  EXPECT_EQ(ValuesOf("const %x: string[3] = {\"abc\", \"ab\", \"xabc\"}",
                     "%y = RegexFullMatch(%x) {pattern = \"a.c\"}"),
            "bool[3] = {true, false, false}");
  EXPECT_THAT(ValuesOf("const %x: string[1] = {\"\"}", "%y = RegexFullMatch(%x) {pattern = \"(\"}"),
              HasSubstr("\"pattern\" is no expression: missing )"));
}

TEST(StringsTest, EncodesLabels) {
  EXPECT_EQ(ValuesOf("const %x: string[3] = {\"b\", \"?\", \"a\"}",
                     "%y = ai.onnx.ml.LabelEncoder(%x) {keys_strings = [\"a\", \"b\", \"b\"], "
                     "values_int64s = [5, 6, 7], default_int64 = -3}"),
            "i64[3] = {7, -3, 5}");
  EXPECT_EQ(ValuesOf("const %x: i64[3] = {2, 0, 1}",
                     "%y = ai.onnx.ml.LabelEncoder(%x) {keys_int64s = [1, 2], values_strings = "
                     "[\"one\", \"two\"], default_string = \"many\"}"),
            "string[3] = {\"two\", \"many\", \"one\"}");
  EXPECT_EQ(ValuesOf("const %x: string[2] = {\"b\", \"?\"}",
                     "%y = ai.onnx.ml.LabelEncoder(%x) {keys_strings = [\"b\"], "
                     "values_strings = [\"B\"]}"),
            "string[2] = {\"B\", \"_Unused\"}");
  EXPECT_EQ(ValuesOf("const %x: string[2] = {\"b\", \"?\"}",
                     "%y = ai.onnx.ml.OneHotEncoder(%x) {cats_strings = [\"a\", \"b\"]}"),
            "f32[2, 2] = {0, 1, 0, 0}");
  EXPECT_EQ(ValuesOf("const %x: string[2] = {\"b\", \"?\"}",
                     "%y = ai.onnx.ml.CategoryMapper(%x) {cats_strings = [\"a\", \"b\"], "
                     "cats_int64s = [3, 4]}"),
            "i64[2] = {4, -1}");
  EXPECT_EQ(ValuesOf("const %x: i64[2] = {4, 9}",
                     "%y = ai.onnx.ml.CategoryMapper(%x) {cats_strings = [\"a\", \"b\"], "
                     "cats_int64s = [3, 4]}"),
            "string[2] = {\"b\", \"_Unused\"}");
}

TEST(StringsTest, NamesClasses) {
  const char* const kX = "const %x: f32[3, 2] = {1, 0, -1, 0, 0, -3}";
  const std::string svm =
      ", coefficients = [0.5, -0.5], rho = [0.25], support_vectors = [0.5, 0.25, -0.5, 1.0], "
      "vectors_per_class = [1, 1]}";
  EXPECT_EQ(ValuesOf(kX, "%y = ai.onnx.ml.SVMClassifier(%x) {classlabels_ints = [5, 6]" + svm),
            "i64[3] = {5, 6, 5}");
  EXPECT_EQ(
      ValuesOf(kX, "%y = ai.onnx.ml.SVMClassifier(%x) {classlabels_strings = [\"a\", \"b\"]" + svm),
      "string[3] = {\"a\", \"b\", \"a\"}");
  const std::string tree =
      ", class_ids = [0, 1], class_nodeids = [1, 2], class_treeids = [0, 0], class_weights = [1.0, "
      "1.0], nodes_falsenodeids = [2, 0, 0], nodes_featureids = [0, 0, 0], nodes_modes = "
      "[\"BRANCH_LEQ\", \"LEAF\", \"LEAF\"], nodes_nodeids = [0, 1, 2], nodes_treeids = [0, 0, 0], "
      "nodes_truenodeids = [1, 0, 0], nodes_values = [0.5, 0.0, 0.0]}";
  EXPECT_EQ(
      ValuesOf(
          kX, "%y, %s = ai.onnx.ml.TreeEnsembleClassifier(%x) {classlabels_int64s = [5, 6]" + tree),
      "i64[3] = {6, 5, 5}; f32[3, 2] = {0, 1, 1, 0, 1, 0}");
  EXPECT_EQ(ValuesOf(kX,
                     "%y, %s = ai.onnx.ml.TreeEnsembleClassifier(%x) {classlabels_strings = "
                     "[\"a\", \"b\"]" +
                         tree),
            "string[3] = {\"b\", \"a\", \"a\"}; f32[3, 2] = {0, 1, 1, 0, 1, 0}");
}

TEST(StringsTest, CountsGrams) {
  EXPECT_EQ(ValuesOf("const %x: string[4] = {\"a\", \"b\", \"a\", \"c\"}",
                     "%y = TfIdfVectorizer(%x) {max_gram_length = 2, max_skip_count = 0, "
                     "min_gram_length = 1, mode = \"TF\", ngram_counts = [0, 2], ngram_indexes = "
                     "[0, 1, 2], pool_strings = [\"a\", \"c\", \"b\", \"a\"]}"),
            "f32[3] = {2, 1, 1}");
}

TEST(StringsTest, LoopsAndBranchesHandThemOn) {
  EXPECT_EQ(
      ValuesOf("const %c: bool[] = {false}\nconst %x: string[1] = {\"a\"}",
               "%y = If(%c, %x) {captures = 1, else_branch = graph \"e\" (%a) -> (%b) {\n%b = "
               "StringConcat(%a, %a)\n}, then_branch = graph \"t\" (%a) -> (%a) {\n}}"),
      "string[1] = {\"aa\"}");
}

}  // namespace
}  // namespace slipway
