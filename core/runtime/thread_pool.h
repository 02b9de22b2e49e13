// ThreadPool: parallel loops over a fixed number of threads.
#ifndef SLIPWAY_CORE_RUNTIME_THREAD_POOL_H_
#define SLIPWAY_CORE_RUNTIME_THREAD_POOL_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/types/span.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/runtime/loop_shares.h"
#include "core/runtime/step_timing.h"

namespace slipway {

// The calling thread takes part, so `threads` is the number that work, and a pool of one thread has
// none of its own. ParallelFor may be called from within a task: it finishes its own loop itself if
// nobody helps. Nothing is allocated after construction. Thread-safe.
//
// Where there are as many processors, each thread has one of its own: a worker that finds itself where
// one of a lower number, or the caller, was last leaves for another. Systems wake a thread beside the one
// that wakes it when other processors are busy for a moment, and leave it there for milliseconds, in which
// a loop has one processor for two threads. No thread is bound to a processor, so that other pools and
// programs still push it to where there is room.
//
// std::mutex instead of absl::Mutex: it costs a tenth without contention, and loops of a few
// microseconds are the rule here. Sleepers sleep at atomic values, not at condition variables: a call that
// wakes all of glibc's waits until those woken by the one before have run, and where one has to
// wait for its processor, each loop would take as long.
class ThreadPool {
 public:
  // REQUIRES: threads >= 1.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // slipway_imports.parallel_for: every index is run even if one fails; the result is 0 or a result
  // that was not 0. With a recording, which has room for threads(), every thread adds to it what it does here; of a loop within a
  // task, only the task is counted on the thread that is in it.
  int32_t ParallelFor(slipway_context* context, slipway_task task, int32_t min, int32_t extent,
                      uint8_t* closure, const ThreadRecording* recording = nullptr);

 private:
  // A loop under way; lives on its caller's stack.
  struct Loop {
    slipway_context* context;
    slipway_task task;
    uint8_t* closure;
    int32_t min;
    LoopShares shares;  // Of the indices, less `min`.
    std::atomic<int32_t> error{0};
    // Workers inside. Raised under the mutex; leaving is the last a worker does with the loop.
    std::atomic<int> helpers{0};
    Loop* below = nullptr;
    const ThreadRecording* recording = nullptr;
  };

  void Work(Loop& loop) const;
  void WorkRecorded(Loop& loop) const;
  // Returns how many tasks it did.
  int64_t DoTasks(Loop& loop) const;
  void RunWorker(size_t number);
  // The number of the calling thread: 0 for all that are no workers of this pool.
  size_t ThisThread() const;
  // The calling worker goes where no other thread of the pool is. `taken` has room for threads().
  void Spread(absl::Span<int> taken);
  // Enters the newest loop with indices left; nullptr where there is none.
  Loop* Join();
  void Unlink(Loop& loop);

  // Where each thread was last; 0 is whoever calls. -1 where it is not known.
  std::vector<std::atomic<int>> places_;
  const bool spreads_;
  std::vector<std::thread> workers_;

  std::mutex mutex_;
  // Loops that may have indices left, the newest first.
  Loop* loops_ = nullptr;
  std::atomic<bool> is_ending_{false};
  // Raised with every loop and by the pool's end: what idle workers look at without the mutex, and sleep at.
  std::atomic<uint32_t> loops_begun_{0};
  // Raised when the last worker left a loop: what callers sleep at.
  std::atomic<uint32_t> loops_left_{0};
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_THREAD_POOL_H_
