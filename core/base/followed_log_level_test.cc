#include "core/base/followed_log_level.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

TEST(FollowedLogLevelTest, FollowsUntilNobodySaysAnything) {
  InitLog("", LogLevel::kWarning);
  FollowedLogLevel level;
  level.Follow("");
  EXPECT_EQ(CurrentLogLevel(), LogLevel::kWarning);
  level.Follow("debug");
  EXPECT_EQ(CurrentLogLevel(), LogLevel::kDebug);
  level.Follow("deafening");
  EXPECT_EQ(CurrentLogLevel(), LogLevel::kDebug);
  level.Follow("error");
  EXPECT_EQ(CurrentLogLevel(), LogLevel::kError);
  level.Follow("");
  EXPECT_EQ(CurrentLogLevel(), LogLevel::kWarning);
}

}  // namespace
}  // namespace slipway
