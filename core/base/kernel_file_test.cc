#include "core/base/kernel_file.h"

#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

TEST(KernelFile, TellsTheKernel) {
  ASSERT_OK(WriteKernelFile("/proc/self/comm", "renamed"));
  EXPECT_EQ(*ReadFile("/proc/self/comm", 100), "renamed\n");
}

TEST(KernelFile, IsNotMade) {
  EXPECT_THAT(WriteKernelFile("/proc/self/nothing", "text"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/proc/self/nothing")));
}

TEST(KernelFile, SaysWhatTheKernelDoesNotTake) {
  EXPECT_THAT(WriteKernelFile("/proc/self/oom_score_adj", "a lot"),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("oom_score_adj")));
}

}  // namespace
}  // namespace slipway
