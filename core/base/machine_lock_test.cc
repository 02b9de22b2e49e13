#include "core/base/machine_lock.h"

#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using Mode = MachineLock::Mode;

class MachineLockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = *TemporaryFolder::Create("lock");
    setenv("SLIPWAY_LOCK_DIR", folder_.path().c_str(), 1);
  }
  static absl::StatusOr<MachineLock> Try(Mode mode) {
    return MachineLock::Acquire(mode, absl::ZeroDuration());
  }
  TemporaryFolder folder_;
};

TEST_F(MachineLockTest, ManyMayShareItButOneHasItAlone) {
  std::optional<MachineLock> a = *Try(Mode::kShared);
  std::optional<MachineLock> b = *Try(Mode::kShared);
  EXPECT_THAT(Try(Mode::kExclusive), StatusIs(absl::StatusCode::kDeadlineExceeded));
  a.reset();
  b.reset();
  std::optional<MachineLock> c = *Try(Mode::kExclusive);
  EXPECT_THAT(Try(Mode::kShared), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(Try(Mode::kExclusive), StatusIs(absl::StatusCode::kDeadlineExceeded));
  c.reset();
  EXPECT_OK(Try(Mode::kShared));
}

TEST_F(MachineLockTest, AWaiterForAllOfItComesBeforeLaterSharers) {
  std::optional<MachineLock> holder = *Try(Mode::kShared);
  std::atomic<bool> is_waiting{false};
  std::thread waiter([&is_waiting] {
    EXPECT_OK(MachineLock::Acquire(Mode::kExclusive, absl::Seconds(30), [&is_waiting] {
      is_waiting = true;  // Asked only while it waits.
      return false;
    }));
  });
  while (!is_waiting) std::this_thread::yield();
  EXPECT_THAT(Try(Mode::kShared), StatusIs(absl::StatusCode::kDeadlineExceeded));
  holder.reset();
  waiter.join();
  EXPECT_OK(Try(Mode::kShared));
}

TEST_F(MachineLockTest, WaitingCanBeCancelled) {
  const std::optional<MachineLock> holder = *Try(Mode::kExclusive);
  EXPECT_THAT(MachineLock::Acquire(Mode::kExclusive, absl::Seconds(30), [] { return true; }),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(MachineLockTest, TheFolderIsWhatOneIsToldOrWhereOneMayWrite) {
  EXPECT_EQ(MachineLockFolder(), folder_.path());
  setenv("SLIPWAY_LOCK_DIR", "", 1);
  const std::string folder = MachineLockFolder();
  EXPECT_TRUE(access(folder.c_str(), W_OK) == 0 || absl::StartsWith(folder, "/tmp/")) << folder;
}

}  // namespace
}  // namespace slipway
