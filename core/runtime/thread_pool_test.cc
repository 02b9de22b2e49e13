#include "core/runtime/thread_pool.h"

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "absl/synchronization/barrier.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/clock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

struct Counts {
  std::vector<std::atomic<int>> of = std::vector<std::atomic<int>>(1000);
  ThreadPool* pool = nullptr;
};

int32_t Count(slipway_context*, int32_t index, uint8_t* closure) {
  reinterpret_cast<Counts*>(closure)->of[static_cast<size_t>(index)].fetch_add(1);
  return 0;
}

uint8_t* Closure(Counts& counts) { return reinterpret_cast<uint8_t*>(&counts); }

class ThreadPoolTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, ::testing::Values(1, 2, 3, 8));

TEST_P(ThreadPoolTest, RunsEveryIndexOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.threads(), GetParam());
  for (int round = 1; round <= 50; ++round) {
    Counts counts;
    EXPECT_EQ(pool.ParallelFor(nullptr, Count, 100, 700, Closure(counts)), 0);
    for (int i = 0; i < 1000; ++i) {
      ASSERT_EQ(counts.of[static_cast<size_t>(i)], i >= 100 && i < 800 ? 1 : 0) << i;
    }
  }
}

TEST_P(ThreadPoolTest, EmptyLoopsDoNothing) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.ParallelFor(nullptr, Count, 0, 0, nullptr), 0);
  EXPECT_EQ(pool.ParallelFor(nullptr, Count, 5, -3, nullptr), 0);
}

int32_t Nested(slipway_context* context, int32_t, uint8_t* closure) {
  auto* counts = reinterpret_cast<Counts*>(closure);
  return counts->pool->ParallelFor(context, Count, 0, 20, closure);
}

TEST_P(ThreadPoolTest, LoopsNest) {
  ThreadPool pool(GetParam());
  Counts counts;
  counts.pool = &pool;
  EXPECT_EQ(pool.ParallelFor(nullptr, Nested, 0, 50, Closure(counts)), 0);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(counts.of[static_cast<size_t>(i)], 50);
}

int32_t FailAtThree(slipway_context* context, int32_t index, uint8_t* closure) {
  Count(context, index, closure);
  return index == 3 ? -5 : 0;
}

TEST_P(ThreadPoolTest, AFailureIsToldAndTheRestStillRuns) {
  ThreadPool pool(GetParam());
  Counts counts;
  EXPECT_EQ(pool.ParallelFor(nullptr, FailAtThree, 0, 100, Closure(counts)), -5);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(counts.of[static_cast<size_t>(i)], 1);
}

TEST_P(ThreadPoolTest, SeveralCallersShareThePool) {
  ThreadPool pool(GetParam());
  std::vector<std::thread> callers;
  std::vector<Counts> counts(4);
  for (Counts& count : counts) {
    callers.emplace_back([&pool, &count] {
      for (int i = 0; i < 100; ++i) pool.ParallelFor(nullptr, Count, 0, 64, Closure(count));
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const Counts& count : counts) EXPECT_EQ(count.of[63], 100);
}

// Ends when as many are in it as the pool has threads.
int32_t Meet(slipway_context*, int32_t, uint8_t* closure) {
  reinterpret_cast<absl::Barrier*>(closure)->Block();
  return 0;
}

int64_t NowNs() { return absl::ToInt64Nanoseconds(SystemClock().Monotonic()); }

TEST_P(ThreadPoolTest, RecordsWhatEachThreadDid) {
  ThreadPool pool(GetParam());
  std::vector<ThreadTiming> threads(static_cast<size_t>(GetParam()));
  const ThreadRecording recording = {NowNs(), absl::MakeSpan(threads)};
  constexpr int kLoops = 3;
  for (int i = 0; i < kLoops; ++i) {
    absl::Barrier barrier(GetParam());
    EXPECT_EQ(pool.ParallelFor(nullptr, Meet, 0, GetParam(), reinterpret_cast<uint8_t*>(&barrier),
                               &recording),
              0);
  }
  const int64_t length = NowNs() - recording.origin_ns;
  for (const ThreadTiming& thread : threads) {
    EXPECT_EQ(thread.tasks, kLoops);
    EXPECT_GE(thread.begin_ns, 0);
    EXPECT_GT(thread.busy_ns, 0);
    EXPECT_LE(thread.busy_ns, thread.end_ns - thread.begin_ns);
    EXPECT_LE(thread.end_ns, length);
  }
}

struct Recorded {
  ThreadPool* pool;
  const ThreadRecording* recording;
  Counts counts;
};

int32_t NestedRecorded(slipway_context* context, int32_t, uint8_t* closure) {
  auto* recorded = reinterpret_cast<Recorded*>(closure);
  return recorded->pool->ParallelFor(context, Count, 0, 20, Closure(recorded->counts),
                                     recorded->recording);
}

TEST_P(ThreadPoolTest, OfALoopInATaskOnlyTheTaskIsRecordedThere) {
  ThreadPool pool(GetParam());
  std::vector<ThreadTiming> threads(static_cast<size_t>(GetParam()));
  const ThreadRecording recording = {NowNs(), absl::MakeSpan(threads)};
  Recorded recorded = {&pool, &recording, {}};
  EXPECT_EQ(pool.ParallelFor(nullptr, NestedRecorded, 0, 50, reinterpret_cast<uint8_t*>(&recorded),
                             &recording),
            0);
  EXPECT_EQ(recorded.counts.of[19], 50);
  int64_t tasks = 0;
  for (const ThreadTiming& thread : threads) {
    tasks += thread.tasks;
    EXPECT_LE(thread.busy_ns, NowNs() - recording.origin_ns);
  }
  // Helpers may do tasks of the loops in a task of somebody else's.
  EXPECT_GE(tasks, 50);
  EXPECT_LE(tasks, 50 + 50 * 20);
  if (GetParam() == 1) EXPECT_EQ(tasks, 50);
}

// Pools in a pool: instances of a program, each with threads of its own.
struct InnerPool {
  ThreadPool pool{2};
  std::vector<ThreadTiming> threads{2};
  ThreadRecording recording{NowNs(), absl::MakeSpan(threads)};
};

int32_t CallInnerPool(slipway_context* context, int32_t index, uint8_t* closure) {
  InnerPool& inner = *reinterpret_cast<std::vector<std::unique_ptr<InnerPool>>*>(closure)->at(
      static_cast<size_t>(index));
  Counts counts;
  return inner.pool.ParallelFor(context, Count, 0, 20, Closure(counts), &inner.recording);
}

TEST(ThreadPoolsTest, AWorkerOfOnePoolIsACallerOfAnother) {
  ThreadPool outer(4);
  std::vector<std::unique_ptr<InnerPool>> inner;
  for (int i = 0; i < 16; ++i) inner.push_back(std::make_unique<InnerPool>());
  EXPECT_EQ(outer.ParallelFor(nullptr, CallInnerPool, 0, 16, reinterpret_cast<uint8_t*>(&inner)),
            0);
  for (const std::unique_ptr<InnerPool>& pool : inner) {
    EXPECT_EQ(pool->threads[0].tasks + pool->threads[1].tasks, 20);
  }
}

}  // namespace
}  // namespace slipway
