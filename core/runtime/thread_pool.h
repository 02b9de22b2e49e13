// ThreadPool: parallel loops over a fixed number of threads.
#ifndef SLIPWAY_CORE_RUNTIME_THREAD_POOL_H_
#define SLIPWAY_CORE_RUNTIME_THREAD_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "core/kernel_abi/kernel_abi.h"
#include "core/runtime/step_timing.h"

namespace slipway {

// The calling thread takes part, so `threads` is the number that work, and a pool of one thread has
// none of its own. ParallelFor may be called from within a task: it finishes its own loop itself if
// nobody helps. Nothing is allocated after construction. Thread-safe.
//
// std::mutex instead of absl::Mutex: it costs a tenth without contention, and loops of a few
// microseconds are the rule here.
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
    int64_t end;
    std::atomic<int64_t> next;
    std::atomic<int32_t> error{0};
    // Workers inside. Changed under the mutex; leaving is the last a worker does with the loop.
    std::atomic<int> helpers{0};
    Loop* below = nullptr;
    const ThreadRecording* recording = nullptr;
  };

  static void Work(Loop& loop);
  static void WorkRecorded(Loop& loop);
  // Returns how many tasks it did.
  static int64_t DoTasks(Loop& loop);
  void RunWorker(size_t number);
  void Unlink(Loop& loop);

  std::vector<std::thread> workers_;

  std::mutex mutex_;
  std::condition_variable work_;   // A loop was added, or the pool ends.
  std::condition_variable ended_;  // A worker left a loop.
  // Loops that may have indices left, the newest first.
  Loop* loops_ = nullptr;
  bool is_ending_ = false;
  // Raised with every loop, so that idle workers can look for work without the mutex.
  std::atomic<uint64_t> loops_begun_{0};
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_THREAD_POOL_H_
