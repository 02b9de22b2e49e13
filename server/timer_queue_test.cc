#include "server/timer_queue.h"

#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::server {
namespace {

TEST(TimerQueueTest, RunsInTheOrderOfTimeAndDropsWhatIsCancelled) {
  absl::Mutex mu;
  std::vector<int> order;
  absl::Notification done;
  TimerQueue timers;
  const auto add = [&](int number) {
    return [&, number] {
      absl::MutexLock lock(&mu);
      order.push_back(number);
    };
  };
  timers.After(absl::Milliseconds(60), [&] { done.Notify(); });
  timers.After(absl::Milliseconds(40), add(3));
  const TimerQueue::Id dropped = timers.After(absl::Milliseconds(30), add(2));
  timers.After(absl::Milliseconds(10), add(1));
  timers.Cancel(dropped);
  timers.Cancel(12'345);
  ASSERT_TRUE(done.WaitForNotificationWithTimeout(absl::Seconds(20)));
  EXPECT_THAT(order, ::testing::ElementsAre(1, 3));
}

TEST(TimerQueueTest, EndsWithoutWaiting) {
  TimerQueue timers;
  timers.After(absl::Hours(1), [] { ADD_FAILURE(); });
}

TEST(TimerQueueTest, WorkMayAskForMoreWhileTheQueueStops) {
  TimerQueue timers;
  absl::Notification runs, stopping;
  timers.After(absl::ZeroDuration(), [&] {
    runs.Notify();
    stopping.WaitForNotification();
    timers.After(absl::Hours(1), [] { ADD_FAILURE(); });
  });
  runs.WaitForNotification();
  std::thread stop([&] { timers.Stop(); });
  stopping.Notify();
  stop.join();
  timers.After(absl::ZeroDuration(), [] { ADD_FAILURE(); });
}

}  // namespace
}  // namespace slipway::server
