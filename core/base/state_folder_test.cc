#include "core/base/state_folder.h"

#include <stdlib.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

TEST(StateFolderTest, IsFoundAsTheSpecificationHasIt) {
  setenv("XDG_STATE_HOME", "/x/state", 1);
  setenv("HOME", "/home/u", 1);
  EXPECT_THAT(UserStateFolder(), IsOkAndHolds("/x/state/slipway"));
  for (const char* const passed_over : {"", "state"}) {
    setenv("XDG_STATE_HOME", passed_over, 1);
    EXPECT_THAT(UserStateFolder(), IsOkAndHolds("/home/u/.local/state/slipway"));
  }
  unsetenv("XDG_STATE_HOME");
  EXPECT_THAT(UserStateFolder(), IsOkAndHolds("/home/u/.local/state/slipway"));
  setenv("HOME", "u", 1);
  EXPECT_THAT(UserStateFolder(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                          HasSubstr("set HOME or XDG_STATE_HOME")));
  unsetenv("HOME");
  EXPECT_THAT(UserStateFolder(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(ConfigFolderTest, IsFoundAsTheSpecificationHasIt) {
  setenv("XDG_CONFIG_HOME", "/x/config", 1);
  setenv("HOME", "/home/u", 1);
  EXPECT_THAT(UserConfigFolder(), IsOkAndHolds("/x/config/slipway"));
  for (const char* const passed_over : {"", "config"}) {
    setenv("XDG_CONFIG_HOME", passed_over, 1);
    EXPECT_THAT(UserConfigFolder(), IsOkAndHolds("/home/u/.config/slipway"));
  }
  unsetenv("XDG_CONFIG_HOME");
  EXPECT_THAT(UserConfigFolder(), IsOkAndHolds("/home/u/.config/slipway"));
  unsetenv("HOME");
  EXPECT_THAT(UserConfigFolder(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                           HasSubstr("set HOME or XDG_CONFIG_HOME")));
}

}  // namespace
}  // namespace slipway
