// ONNX's own backend-test cases through the reference: what is supported passes. Debian's package
// libonnx-testdata has them; skipped without it.
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/base/files.h"
#include "core/operators/register_all.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"
#include "tests/conformance/backend_case.h"
#include "tests/conformance/engine.h"

namespace slipway {
namespace {

constexpr char kCases[] = "/usr/share/libonnx-testdata/data";

// No published case has these alone, or none that the package knows: the tests of core/reference, kept_cases_test and
// models_test cover them.
const std::vector<std::string>& OperatorsWithoutCases() {
  static const auto& operators = *new std::vector<std::string>{"AffineGrid",
                                                               "Attention",
                                                               "BitCast",
                                                               "BitwiseAnd",
                                                               "BitwiseNot",
                                                               "BitwiseOr",
                                                               "BitwiseXor",
                                                               "CausalConvWithState",
                                                               "CenterCropPad",
                                                               "Col2Im",
                                                               "ConcatFromSequence",
                                                               "CumProd",
                                                               "DeformConv",
                                                               "Gelu",
                                                               "GlobalLpPool",
                                                               "GroupNormalization",
                                                               "LinearAttention",
                                                               "LpNormalization",
                                                               "LpPool",
                                                               "Mish",
                                                               "Multinomial",
                                                               "Optional",
                                                               "RMSNormalization",
                                                               "RandomNormal",
                                                               "RandomNormalLike",
                                                               "RandomUniform",
                                                               "RandomUniformLike",
                                                               "RegexFullMatch",
                                                               "RotaryEmbedding",
                                                               "SequenceAt",
                                                               "SequenceConstruct",
                                                               "SequenceEmpty",
                                                               "SequenceErase",
                                                               "SequenceLength",
                                                               "SplitToSequence",
                                                               "StringConcat",
                                                               "StringSplit",
                                                               "SwiGLU",
                                                               "Swish",
                                                               "TensorScatter",
                                                               "ai.onnx.ml.ArrayFeatureExtractor",
                                                               "ai.onnx.ml.CategoryMapper",
                                                               "ai.onnx.ml.Imputer",
                                                               "ai.onnx.ml.LabelEncoder",
                                                               "ai.onnx.ml.Normalizer",
                                                               "ai.onnx.ml.OneHotEncoder",
                                                               "ai.onnx.ml.SVMClassifier",
                                                               "ai.onnx.ml.SVMRegressor",
                                                               "ai.onnx.ml.TreeEnsemble",
                                                               "ai.onnx.ml.TreeEnsembleClassifier",
                                                               "ai.onnx.ml.TreeEnsembleRegressor"};
  return operators;
}

// The cases that unsupported_cases.txt lists, each with its reason: "NAME: REASON", or a comment.
std::vector<std::string> ListedCases() {
  const auto text = ReadFile("tests/conformance/unsupported_cases.txt", 1 << 20);
  EXPECT_OK(text.status());
  std::vector<std::string> names;
  for (const absl::string_view line : absl::StrSplit(text.value_or(""), '\n', absl::SkipEmpty())) {
    if (absl::StartsWith(line, "#")) continue;
    const std::pair<std::string, std::string> entry =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    EXPECT_FALSE(entry.second.empty()) << "no reason for " << entry.first;
    names.push_back(entry.first);
  }
  return names;
}

TEST(ReferenceCasesTest, EverySupportedCasePasses) {
  if (!std::filesystem::exists(kCases)) GTEST_SKIP() << kCases << " is not installed";
  std::map<std::string, int> passed;
  std::set<std::string> unsupported;
  for (const std::string folder : {"node", "pytorch-converted", "pytorch-operator", "simple"}) {
    const auto cases = FindBackendCases(std::string(kCases) + "/" + folder);
    ASSERT_OK(cases.status());
    for (const BackendCase& backend_case : *cases) {
      const auto engine = MakeReferenceEngine();
      const CaseResult result = RunBackendCase(backend_case, *engine, Tolerance());
      EXPECT_NE(Name(result.verdict), "failed") << result.name << ": " << result.reason;
      if (result.verdict == CaseResult::Verdict::kPassed) {
        ++passed[result.op];
      } else {
        unsupported.insert(result.name);
      }
    }
  }
  int total = 0;
  for (const auto& [op, count] : passed) total += count;
  EXPECT_GE(total, 1065);
  EXPECT_THAT(unsupported, ::testing::ElementsAreArray(ListedCases()))
      << "what passes now leaves tests/conformance/unsupported_cases.txt";
  for (const std::string& op : StandardOperators().Names()) {
    if (op.rfind("slipway.", 0) == 0) continue;
    if (!::testing::Matches(::testing::Contains(op))(OperatorsWithoutCases())) {
      EXPECT_GT(passed[op], 0) << "no case of \"" << op << "\" passes";
    }
  }
}

}  // namespace
}  // namespace slipway
