#include "core/base/descriptor_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace slipway {
namespace {

TEST(DescriptorLimitTest, IsRaisedToTheHighestAllowed) {
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = 64;
  limit.rlim_max = 96;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(RaiseDescriptorLimit(), 96);
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, 96);
  EXPECT_EQ(DescriptorLimit(), 96);
}

}  // namespace
}  // namespace slipway
