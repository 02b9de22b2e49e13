#include "core/runtime/code_module.h"

#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "core/base/files.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/runtime/test_programs/test_programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

// A runtime of the future.
constexpr VersionRange kFuture{1, 3};

TEST(CodeModule, CodeOfEveryVersionInTheRangeLoads) {
  for (const auto& [code, abi] :
       {std::pair{TestAbi::kGood, 1u}, {TestAbi::kVersion2, 2u}, {TestAbi::kVersion3, 3u}}) {
    SCOPED_TRACE(abi);
    ASSERT_OK_AND_ASSIGN(const auto module,
                         CodeModule::Load(TestCodeBytes(code), kTestKernelCount, abi, kFuture));
    EXPECT_EQ(module->kernel(0).argument_count, 3);
  }
}

// A process that may have few descriptors loads many programs, and each has data of its own.
TEST(CodeModule, HoldsNoDescriptorAndIsNoOthers) {
  const UniqueFd before(dup(STDERR_FILENO));
  std::vector<std::unique_ptr<CodeModule>> modules;
  absl::flat_hash_set<slipway_kernel> kernels;
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK_AND_ASSIGN(auto module, CodeModule::Load(TestCodeBytes(TestAbi::kGood),
                                                       kTestKernelCount, SLIPWAY_ABI_VERSION));
    kernels.insert(module->kernel(0).function);
    modules.push_back(std::move(module));
  }
  EXPECT_EQ(kernels.size(), modules.size());
  const UniqueFd after(dup(STDERR_FILENO));
  EXPECT_EQ(after.get(), before.get() + 1);
}

TEST(CodeModule, VersionsOutsideTheRangeAreRefusedWithBothSides) {
  // Nothing is mapped: that these bytes are no code is not found out.
  EXPECT_THAT(CodeModule::Load("", kTestKernelCount, 4, kFuture),
              StatusIs(Code::kUnimplemented,
                       AllOf(HasSubstr("built for kernel ABI 4"), HasSubstr("speaks 1 to 3"),
                             HasSubstr("update Slipway"))));
  EXPECT_THAT(
      CodeModule::Load("", kTestKernelCount, 0, kFuture),
      StatusIs(Code::kUnimplemented, AllOf(HasSubstr("built for kernel ABI 0"),
                                           HasSubstr("speaks 1 to 3"), HasSubstr("again"))));
  // One that has given up its oldest versions.
  EXPECT_THAT(
      CodeModule::Load(TestCodeBytes(TestAbi::kGood), kTestKernelCount, 1, {2, 2}),
      StatusIs(Code::kUnimplemented, HasSubstr("kernel ABI 1, but this runtime speaks 2;")));
  // This one.
  EXPECT_THAT(CodeModule::Load(TestCodeBytes(TestAbi::kVersion2), kTestKernelCount, 2),
              StatusIs(Code::kUnimplemented));
}

TEST(CodeModule, CodeIsOfTheVersionItsManifestSays) {
  EXPECT_THAT(CodeModule::Load(TestCodeBytes(TestAbi::kVersion3), kTestKernelCount, 2, kFuture),
              StatusIs(Code::kInvalidArgument, HasSubstr("does not speak kernel ABI 2")));
  EXPECT_THAT(CodeModule::Load(TestCodeBytes(TestAbi::kOtherAbi), kTestKernelCount, 1, kFuture),
              StatusIs(Code::kInvalidArgument, HasSubstr("kernel ABI 2, but its manifest says 1")));
}

}  // namespace
}  // namespace slipway
