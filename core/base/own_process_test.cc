#include "core/base/own_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace slipway {
namespace {

TEST(OwnProcessTest, CountsWhatIsOpen) {
  const int before = OpenDescriptors();
  EXPECT_GE(before, 3);
  const int copy = dup(STDERR_FILENO);
  EXPECT_EQ(OpenDescriptors(), before + 1);
  close(copy);
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST(OwnProcessTest, ProcessorTimeGrowsByWork) {
  const absl::Duration before = OwnProcessorTime();
  volatile uint64_t sum = 0;
  // It ends when the system has counted some of it.
  while (OwnProcessorTime() == before) {
    for (int i = 0; i < 100'000; ++i) sum = sum + static_cast<uint64_t>(i);
  }
  EXPECT_GT(OwnProcessorTime(), before);
}

}  // namespace
}  // namespace slipway
