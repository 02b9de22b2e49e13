// Holds the lists of operators against each other: schemas, kernels of the reference, lowerings.
#include <algorithm>
#include <string>
#include <vector>

#include "core/codegen/lower/register_all.h"
#include "core/codegen/lowering.h"
#include "core/operators/register_all.h"
#include "core/reference/kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::ElementsAreArray;
using ::testing::IsSubsetOf;

std::vector<std::string> Without(std::vector<std::string> names,
                                 const std::vector<std::string>& left_out) {
  names.erase(std::remove_if(names.begin(), names.end(),
                             [&](const std::string& name) {
                               return std::count(left_out.begin(), left_out.end(), name) > 0;
                             }),
              names.end());
  return names;
}

TEST(OperatorListsTest, EveryOperatorHasAKernel) {
  KernelColumn kernels;
  ASSERT_OK(RegisterAllKernels(kernels));
  // The reference evaluates the body of a group itself.
  EXPECT_THAT(kernels.Names(),
              ElementsAreArray(Without(StandardOperators().Names(), {"slipway.Fused"})));
}

TEST(OperatorListsTest, EveryOperatorHasALowering) {
  Lowerings lowerings;
  ASSERT_OK(RegisterAllLowerings(lowerings));
  const std::vector<std::string> operators = StandardOperators().Names();
  EXPECT_THAT(lowerings.Names(), IsSubsetOf(operators));
  // A group is what is lowered; a Constant is a constant from its import on.
  EXPECT_THAT(Without(operators, {"Constant", "slipway.Fused"}), IsSubsetOf(lowerings.Names()));
}

}  // namespace
}  // namespace slipway
