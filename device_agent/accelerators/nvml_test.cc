#include "device_agent/accelerators/nvml.h"

#include <stdlib.h>

#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

TEST(NvmlTest, TellsWhatGpusAreAndHowTheyDo) {
  ASSERT_OK_AND_ASSIGN(const std::vector<GpuState> gpus, ReadGpus());
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(DescribeGpu(gpus[0]), "Fake H100, sm90, 80.0 GiB, driver 550.54.15");
  EXPECT_EQ(DescribeGpuState(gpus[0]),
            "40.0 GiB free, SM 1980 MHz, memory 2619 MHz, 71.2 W, 30 °C");
}

TEST(NvmlTest, LeavesOutWhatAGpuDoesNotTell) {
  ASSERT_OK_AND_ASSIGN(const std::vector<GpuState> gpus, ReadGpus());
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(DescribeGpu(gpus[1]), "Fake L4, sm89, 24.0 GiB, driver 550.54.15");
  EXPECT_EQ(DescribeGpuState(gpus[1]), "12.0 GiB free, 39 °C");
}

TEST(NvmlTest, SaysWhyThereIsNone) {
  setenv("SLIPWAY_FAKE_NVML", "9", 1);
  EXPECT_THAT(ReadGpus(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("nvmlInit gives error 9")));
  unsetenv("SLIPWAY_FAKE_NVML");
}

}  // namespace
}  // namespace slipway
