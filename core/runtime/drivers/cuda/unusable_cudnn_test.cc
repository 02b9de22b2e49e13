// Of machines whose cuDNN cannot be used, each in a way that $WANTED tells: the library is loaded once in a process.
#include <stdlib.h>

#include "core/artifact/vendor_step.h"
#include "core/runtime/drivers/cuda/cuda_driver.h"
#include "core/runtime/drivers/cuda/cudnn_library.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

TEST(UnusableCudnn, IsToldAndTheDeviceIsThereWithoutIt) {
  EXPECT_THAT(CudnnLibrary::Load(12040),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(getenv("WANTED"))));
  ASSERT_OK_AND_ASSIGN(const auto device,
                       MakeCudaDriver({.libraries = {.use = LibraryUse::kMeasured}})->Open(0));
  VendorStep step;
  step.computed = VendorConvolution();
  EXPECT_EQ(device->library_for(step), nullptr);
  ASSERT_OK_AND_ASSIGN(const auto names, ListCudaDevices());
  EXPECT_EQ(names.at(0).libraries, "");
}

}  // namespace
}  // namespace slipway
