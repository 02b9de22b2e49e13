#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "core/runtime/drivers/cuda/cuda_driver.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

TEST(CudaDriver, SaysThatThereIsNoDevice) {
  EXPECT_THAT(MakeCudaDriver()->Open(0), StatusIs(absl::StatusCode::kFailedPrecondition,
                                                  HasSubstr("CUDA_ERROR_NO_DEVICE (100)")));
  EXPECT_THAT(ListCudaDevices(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace slipway
