#include "server/work_pool.h"

#include <atomic>
#include <vector>

#include "absl/synchronization/barrier.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

namespace slipway::server {
namespace {

TEST(WorkPool, RunsWhatWasPostedToItsEnd) {
  std::atomic<int> ran = 0;
  {
    WorkPool pool(2, 1'000);
    for (int i = 0; i < 500; ++i) {
      pool.Post([&ran] { ++ran; });
      EXPECT_TRUE(pool.TryPost([&ran] { ++ran; }));
    }
  }
  EXPECT_EQ(ran, 1'000);
}

// Each of three waits for the other two.
TEST(WorkPool, WorksOnSeveralThingsAtATime) {
  WorkPool pool(3, 10);
  auto* barrier = new absl::Barrier(3);
  for (int i = 0; i < 3; ++i) {
    pool.Post([barrier] {
      if (barrier->Block()) delete barrier;
    });
  }
}

TEST(WorkPool, TakesNoMoreThanMayWait) {
  absl::Notification began, go;
  std::atomic<int> ran = 0;
  {
    WorkPool pool(1, 2);
    pool.Post([&] {
      began.Notify();
      go.WaitForNotification();
    });
    began.WaitForNotification();
    EXPECT_TRUE(pool.TryPost([&ran] { ++ran; }));
    EXPECT_TRUE(pool.TryPost([&ran] { ++ran; }));
    EXPECT_FALSE(pool.TryPost([&ran] { ran += 100; }));
    // Who was let in goes on.
    pool.Post([&ran] { ran += 10; });
    go.Notify();
  }
  EXPECT_EQ(ran, 12);
}

TEST(WorkPool, KeepsTheOrder) {
  std::vector<int> order;
  {
    WorkPool pool(1, 10);
    for (int i = 0; i < 5; ++i) pool.Post([&order, i] { order.push_back(i); });
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace slipway::server
