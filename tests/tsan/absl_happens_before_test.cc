// Under --config=tsan: everything of absl/synchronization orders threads, in the eyes of TSan as well.
// In any other configuration these tests show little.

#include <thread>
#include <vector>

#include "absl/synchronization/barrier.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

constexpr int kRounds = 500;

template <typename Function>
void OnThreads(int count, Function function) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(function);
  for (std::thread& thread : threads) thread.join();
}

TEST(AbslHappensBeforeTest, MutexLock) {
  absl::Mutex mutex;
  int count = 0;
  OnThreads(3, [&] {
    for (int i = 0; i < kRounds; ++i) {
      absl::MutexLock lock(&mutex);
      ++count;
    }
  });
  EXPECT_EQ(count, 3 * kRounds);
}

TEST(AbslHappensBeforeTest, ReaderLockAndTryLock) {
  absl::Mutex mutex;
  int count = 0;
  OnThreads(3, [&] {
    for (int i = 0; i < kRounds; ++i) {
      {
        absl::ReaderMutexLock lock(&mutex);
        EXPECT_GE(count, 0);
      }
      if (mutex.TryLock()) {
        ++count;
        mutex.Unlock();
      }
      if (mutex.ReaderTryLock()) {
        EXPECT_GE(count, 0);
        mutex.ReaderUnlock();
      }
    }
  });
}

TEST(AbslHappensBeforeTest, ReleasableLock) {
  absl::Mutex mutex;
  int count = 0;
  OnThreads(3, [&] {
    for (int i = 0; i < kRounds; ++i) {
      absl::ReleasableMutexLock lock(&mutex);
      ++count;
      lock.Release();
    }
  });
  EXPECT_EQ(count, 3 * kRounds);
}

// Each thread waits for its turn; the conditions run in whichever thread unlocks.
TEST(AbslHappensBeforeTest, AwaitAndLockWhen) {
  absl::Mutex mutex;
  int turn = 0;
  std::vector<std::thread> threads;
  for (int self = 0; self < 3; ++self) {
    threads.emplace_back([&mutex, &turn, self] {
      const auto is_my_turn = [&turn, self] { return turn % 3 == self; };
      for (int i = 0; i < kRounds; ++i) {
        if (i % 3 == 0) {
          mutex.LockWhen(absl::Condition(&is_my_turn));
        } else if (i % 3 == 1) {
          mutex.Lock();
          mutex.Await(absl::Condition(&is_my_turn));
        } else {
          mutex.Lock();
          while (!mutex.AwaitWithTimeout(absl::Condition(&is_my_turn), absl::Microseconds(50))) {
          }
        }
        ++turn;
        mutex.Unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(turn, 3 * kRounds);
}

TEST(AbslHappensBeforeTest, CondVar) {
  absl::Mutex mutex;
  absl::CondVar changed;
  int turn = 0;
  std::vector<std::thread> threads;
  for (int self = 0; self < 2; ++self) {
    threads.emplace_back([&, self] {
      for (int i = 0; i < kRounds; ++i) {
        absl::MutexLock lock(&mutex);
        while (turn % 2 != self) {
          if (i % 2 == 0) {
            changed.Wait(&mutex);
          } else {
            changed.WaitWithTimeout(&mutex, absl::Milliseconds(1));
          }
        }
        ++turn;
        changed.SignalAll();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(turn, 2 * kRounds);
}

TEST(AbslHappensBeforeTest, Notification) {
  for (int i = 0; i < 50; ++i) {
    absl::Notification done;
    int value = 0;
    std::thread waiter([&] {
      done.WaitForNotification();
      EXPECT_EQ(value, 1);
    });
    std::thread poller([&] {
      while (!done.HasBeenNotified()) std::this_thread::yield();
      EXPECT_EQ(value, 1);
    });
    std::thread patient([&] {
      if (done.WaitForNotificationWithTimeout(absl::Seconds(10))) {
        EXPECT_EQ(value, 1);
      }
    });
    value = 1;
    done.Notify();
    waiter.join();
    poller.join();
    patient.join();
  }
}

TEST(AbslHappensBeforeTest, BlockingCounterAndBarrier) {
  absl::BlockingCounter counter(3);
  auto* barrier = new absl::Barrier(3);
  std::vector<int> values(3);
  std::vector<std::thread> threads;
  for (int self = 0; self < 3; ++self) {
    threads.emplace_back([&, self] {
      values[self] = self;
      if (barrier->Block()) delete barrier;
      EXPECT_EQ(values[(self + 1) % 3], (self + 1) % 3);
      counter.DecrementCount();
    });
  }
  counter.Wait();
  values.clear();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace slipway
