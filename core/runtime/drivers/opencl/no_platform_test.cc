#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "core/runtime/drivers/opencl/opencl_driver.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(OpenClDriver, SaysWhatToInstallWhereThereIsNoDevice) {
  EXPECT_THAT(MakeOpenClDriver()->Open(0),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("no device of 0 platforms"), HasSubstr("pocl-opencl-icd"))));
  EXPECT_THAT(ListOpenClDevices(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace slipway
