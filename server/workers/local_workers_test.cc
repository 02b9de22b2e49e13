// The processes are shells.
#include "server/workers/local_workers.h"

#include <cstdio>
#include <deque>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/names.h"

namespace slipway::server {
namespace {

using ::testing::HasSubstr;

// Says in a file of its name that it is there, and stays. Its arguments are "--worker-id ID".
constexpr char kUntilTold[] = R"(: > "$2"; sleep 1000 & wait)";

struct End {
  std::string worker;
  std::string why;
  std::string last_words;
  bool counted;
};

class LocalWorkersTest : public ::testing::Test {
 protected:
  LocalWorkers::Options Running(const std::string& script, int count = 1) {
    LocalWorkers::Options options;
    options.count = count;
    options.command = {"/bin/sh", "-c", absl::StrCat("cd ", folder_.path(), "; ", script),
                       "worker"};
    options.first_backoff = absl::Milliseconds(1);
    options.longest_backoff = absl::Milliseconds(2);
    return options;
  }
  LocalWorkers::Ended Told() {
    return [this](absl::string_view worker, absl::string_view why, absl::string_view last_words,
                  bool counted) {
      absl::MutexLock lock(&mu_);
      ends_.push_back({std::string(worker), std::string(why), std::string(last_words), counted});
    };
  }
  // The next end of a process that was told.
  End NextEnd() {
    absl::MutexLock lock(&mu_);
    const auto has_end = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return !ends_.empty(); };
    if (!mu_.AwaitWithTimeout(absl::Condition(&has_end), absl::Seconds(20))) {
      ADD_FAILURE() << "no process ended";
      return {};
    }
    End end = ends_.front();
    ends_.pop_front();
    return end;
  }
  // Until the worker says that it is there, for the first time or again.
  void AwaitStart(int index) {
    const std::string path = JoinPath(folder_.path(), LocalWorkerId(index));
    const absl::Time end = absl::Now() + absl::Seconds(20);
    while (std::remove(path.c_str()) != 0 && absl::Now() < end) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    ASSERT_LT(absl::Now(), end) << "no process started";
  }
  size_t EndsTold() {
    absl::MutexLock lock(&mu_);
    return ends_.size();
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("local_workers_test");
  absl::Mutex mu_;
  std::deque<End> ends_ ABSL_GUARDED_BY(mu_);
  TimerQueue timers_;
};

TEST_F(LocalWorkersTest, NothingRunsWithoutDemand) {
  { LocalWorkers workers(Running("exit 1"), &timers_, Told()); }
  EXPECT_EQ(EndsTold(), 0);
}

TEST_F(LocalWorkersTest, OneThatEndsByItselfCountsAndIsStartedAgain) {
  LocalWorkers workers(Running("exit 3"), &timers_, Told());
  workers.SetDemand(1);
  for (int i = 0; i < 3; ++i) {
    const End end = NextEnd();
    EXPECT_EQ(end.worker, LocalWorkerId(0));
    EXPECT_TRUE(end.counted);
    EXPECT_THAT(end.why, HasSubstr("3"));
  }
}

TEST_F(LocalWorkersTest, OneThatDoesNotStartCountsToo) {
  LocalWorkers::Options options = Running("");
  options.command = {"/nowhere/slipway-compile-worker"};
  LocalWorkers workers(options, &timers_, Told());
  workers.SetDemand(1);
  const End end = NextEnd();
  EXPECT_TRUE(end.counted);
  EXPECT_THAT(end.why, HasSubstr("did not start"));
  EXPECT_EQ(end.last_words, "");
}

TEST_F(LocalWorkersTest, TellsTheLastWords) {
  LocalWorkers workers(Running("echo to nobody; echo first >&2; echo last >&2; exit 3"), &timers_,
                       Told());
  workers.SetDemand(1);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(NextEnd().last_words, "first\nlast\n");
}

// Each says its own id and nobody else's.
TEST_F(LocalWorkersTest, SoManyAsAreWantedAndAllowed) {
  LocalWorkers workers(Running(R"([ "$1" = --worker-id ] && exit 5; exit 6)", 2), &timers_, Told());
  workers.SetDemand(9);
  bool first = false, second = false;
  while (!first || !second) {
    const End end = NextEnd();
    ASSERT_THAT(end.why, HasSubstr("5"));
    first = first || end.worker == LocalWorkerId(0);
    second = second || end.worker == LocalWorkerId(1);
    ASSERT_TRUE(end.worker == LocalWorkerId(0) || end.worker == LocalWorkerId(1));
  }
}

TEST_F(LocalWorkersTest, OneMoreIsNotStartedForNobody) {
  LocalWorkers workers(Running("exit 3", 2), &timers_, Told());
  workers.SetDemand(1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(NextEnd().worker, LocalWorkerId(0));
}

// Idle, it is told to end, which does not count, and is started again for new work.
TEST_F(LocalWorkersTest, IdleOnesEnd) {
  LocalWorkers::Options options = Running(kUntilTold);
  options.idle = absl::ZeroDuration();
  LocalWorkers workers(options, &timers_, Told());
  for (int i = 0; i < 2; ++i) {
    workers.SetDemand(1);
    AwaitStart(0);
    workers.SetDemand(0);
    const End end = NextEnd();
    EXPECT_FALSE(end.counted) << end.why;
  }
}

// It was idle for a while, but not for the whole time.
TEST_F(LocalWorkersTest, NewDemandStopsTheEnd) {
  LocalWorkers::Options options = Running(kUntilTold);
  options.idle = absl::Milliseconds(50);
  LocalWorkers workers(options, &timers_, Told());
  workers.SetDemand(1);
  AwaitStart(0);
  workers.SetDemand(0);
  workers.SetDemand(1);
  absl::Notification later;
  timers_.After(2 * options.idle, [&later] { later.Notify(); });
  later.WaitForNotification();
  EXPECT_EQ(EndsTold(), 0);
}

TEST_F(LocalWorkersTest, AllEndWithIt) {
  {
    LocalWorkers workers(Running(kUntilTold, 2), &timers_, Told());
    workers.SetDemand(2);
    AwaitStart(0);
    AwaitStart(1);
  }
  ASSERT_EQ(EndsTold(), 2);
  EXPECT_FALSE(NextEnd().counted);
  EXPECT_FALSE(NextEnd().counted);
}

}  // namespace
}  // namespace slipway::server
