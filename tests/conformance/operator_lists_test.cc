// Holds the lists of operators against each other, family by family: schemas, kernels of the
// reference, lowerings. That a family's file is named like it is the business of tests/lint.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/codegen/lower/register_all.h"
#include "core/codegen/lowering.h"
#include "core/graph/operator_column.h"
#include "core/operators/register_all.h"
#include "core/reference/register_all.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::ElementsAreArray;

using NamesByFamily = std::map<std::string, std::vector<std::string>>;

// What each family adds, without the operators that are `left_out`.
template <typename Column>
NamesByFamily NamesOf(absl::Span<const OperatorFamily<Column>> families,
                      const std::vector<std::string>& left_out) {
  NamesByFamily by_family;
  for (const OperatorFamily<Column>& family : families) {
    Column column;
    EXPECT_OK(family.add(column)) << std::string(family.name);
    std::vector<std::string> names = column.Names();
    names.erase(std::remove_if(names.begin(), names.end(),
                               [&](const std::string& name) {
                                 return std::count(left_out.begin(), left_out.end(), name) > 0;
                               }),
                names.end());
    if (!names.empty()) by_family[std::string(family.name)] = std::move(names);
  }
  return by_family;
}

TEST(OperatorListsTest, EveryOperatorHasAKernelInItsFamily) {
  // What gives symbols their values computes nothing; what is over strings, and gradients, are written with other operators.
  EXPECT_THAT(NamesOf(KernelFamilies(), {}),
              ElementsAreArray(NamesOf(
                  OperatorFamilies(),
                  {"RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit",
                   "ai.onnx.ml.CategoryMapper", "slipway.BindSymbols", "slipway.Gradient"})));
}

// Those of `names` whose kernel can be linked into programs.
std::vector<std::string> Callable(const std::vector<std::string>& names) {
  KernelColumn kernels;
  EXPECT_OK(RegisterAllKernels(kernels));
  std::vector<std::string> callable;
  for (const std::string& name : names) {
    const Kernel* kernel = kernels.Find(name);
    if (kernel != nullptr && kernel->callable.has_value()) callable.push_back(name);
  }
  return callable;
}

TEST(OperatorListsTest, EveryOperatorHasALoweringInItsFamilyOrACallableKernel) {
  // A group is what is lowered; a Constant is a constant from its import on; control flow is no kernel, views need none;
  // regular expressions are the reference's alone.
  NamesByFamily needed = NamesOf(
      OperatorFamilies(),
      {"slipway.Again", "slipway.BindSymbols", "slipway.Call", "slipway.Fused", "slipway.Gradient",
       "slipway.StringMatch", "slipway.View", "Constant", "If", "Loop", "RegexFullMatch", "Scan",
       "StringConcat", "StringNormalizer", "StringSplit", "ai.onnx.ml.CategoryMapper"});
  needed.erase("sequence");  // Of what type an element is no program can say yet.
  NamesByFamily lowered = NamesOf(LoweringFamilies(), {});
  for (const auto& [family, names] : needed) {
    for (const std::string& name : Callable(names)) {
      if (std::count(lowered[family].begin(), lowered[family].end(), name) == 0)
        lowered[family].push_back(name);
    }
    std::sort(lowered[family].begin(), lowered[family].end());
    if (lowered[family].empty()) lowered.erase(family);
  }
  EXPECT_THAT(lowered, ElementsAreArray(needed));
}

TEST(OperatorListsTest, AllAreRegistered) {
  const auto count = [](const NamesByFamily& families) {
    size_t operators = 0;
    for (const auto& [family, names] : families) operators += names.size();
    return operators;
  };
  KernelColumn kernels;
  ASSERT_OK(RegisterAllKernels(kernels));
  Lowerings lowerings;
  ASSERT_OK(RegisterAllLowerings(lowerings));
  EXPECT_EQ(StandardOperators().Names().size(), count(NamesOf(OperatorFamilies(), {})));
  EXPECT_EQ(kernels.Names().size(), count(NamesOf(KernelFamilies(), {})));
  EXPECT_EQ(lowerings.Names().size(), count(NamesOf(LoweringFamilies(), {})));
}

}  // namespace
}  // namespace slipway
