#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "core/runtime/drivers/cuda/cuda_driver.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(CudaDriver, SaysWhatToInstallWhereThereIsNoLibrary) {
  if (ListCudaDevices().ok()) GTEST_SKIP() << "this machine has CUDA";
  EXPECT_THAT(MakeCudaDriver()->Open(0),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("libcuda.so.1"), HasSubstr("install NVIDIA's driver"))));
  EXPECT_THAT(ListCudaDevices(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(CudaDriver, OpensNothingWhereItMustNot) {
  EXPECT_THAT(MakeCudaDriver({.refusal = "not for you"})->Open(0),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("cuda: not for you")));
}

}  // namespace
}  // namespace slipway
