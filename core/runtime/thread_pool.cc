#include "core/runtime/thread_pool.h"

#include <optional>

#include "absl/base/optimization.h"
#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/processors/thread_processor.h"
#include "core/base/processors/usable_processors.h"

namespace slipway {
namespace {

// How long an idle worker looks for work before it sleeps, and a caller for the end of what workers still do: longer than what
// lies between two loops of a call. Waking up costs 5 to 50 us, the more on virtual processors that have halted.
constexpr int64_t kLookNs = 200'000;
constexpr int kLooksAtATime = 32;

// Whose worker this thread is, and which.
thread_local const ThreadPool* pool_of_thread = nullptr;
thread_local size_t number_in_pool = 0;
// Within tasks that are recorded already.
thread_local bool is_recorded = false;

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  asm volatile("yield");
#endif
}

int64_t NowNs() { return absl::ToInt64Nanoseconds(SystemClock().Monotonic()); }

// Until `is_there`, or until it has looked long enough.
template <typename IsThere, typename Meanwhile>
void LookFor(IsThere is_there, Meanwhile meanwhile) {
  int64_t end_ns = 0;
  while (true) {
    for (int i = 0; i < kLooksAtATime; ++i) {
      if (is_there()) return;
      Pause();
    }
    meanwhile();
    const int64_t now_ns = NowNs();
    if (end_ns == 0) end_ns = now_ns + kLookNs;
    if (now_ns >= end_ns) return;
  }
}

}  // namespace

ThreadPool::ThreadPool(int threads)
    : places_(static_cast<size_t>(threads)),
      spreads_(static_cast<size_t>(threads) <= UsableProcessors().size()) {
  SLIPWAY_CHECK(threads >= 1, "a pool needs a thread");
  for (std::atomic<int>& place : places_) place.store(-1, std::memory_order_relaxed);
  workers_.reserve(static_cast<size_t>(threads - 1));
  for (size_t i = 1; i < static_cast<size_t>(threads); ++i) {
    workers_.emplace_back([this, i] { RunWorker(i); });
  }
}

ThreadPool::~ThreadPool() {
  is_ending_.store(true, std::memory_order_relaxed);
  loops_begun_.fetch_add(1, std::memory_order_release);
  loops_begun_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::Work(Loop& loop) const {
  if (ABSL_PREDICT_TRUE(loop.recording == nullptr) || is_recorded) {
    DoTasks(loop);
  } else {
    WorkRecorded(loop);
  }
}

void ThreadPool::WorkRecorded(Loop& loop) const {
  ThreadTiming& work = loop.recording->threads[ThisThread()];
  const auto now = [&] { return NowNs() - loop.recording->origin_ns; };
  is_recorded = true;
  const int64_t begin = now();
  const int64_t tasks = DoTasks(loop);
  const int64_t end = now();
  is_recorded = false;
  if (tasks == 0) return;
  if (work.tasks == 0) work.begin_ns = begin;
  work.end_ns = end;
  work.busy_ns += end - begin;
  work.tasks += tasks;
}

int64_t ThreadPool::DoTasks(Loop& loop) const {
  const size_t self = ThisThread();
  int64_t tasks = 0;
  while (const std::optional<int32_t> index = loop.shares.Take(self)) {
    const int32_t result = loop.task(loop.context, loop.min + *index, loop.closure);
    if (result != 0) {
      int32_t none = 0;
      loop.error.compare_exchange_strong(none, result, std::memory_order_relaxed);
    }
    ++tasks;
  }
  return tasks;
}

size_t ThreadPool::ThisThread() const { return pool_of_thread == this ? number_in_pool : 0; }

void ThreadPool::Spread(absl::Span<int> taken) {
  if (!spreads_) return;
  const size_t self = number_in_pool;
  const int here = ThreadProcessor();
  places_[self].store(here, std::memory_order_relaxed);
  bool is_shared = false;
  for (size_t i = 0; i < places_.size(); ++i) {
    taken[i] = places_[i].load(std::memory_order_relaxed);
    is_shared |= i < self && taken[i] == here;
  }
  if (!is_shared) return;
  LeaveProcessors(taken);
  places_[self].store(ThreadProcessor(), std::memory_order_relaxed);
}

void ThreadPool::Unlink(Loop& loop) {
  for (Loop** link = &loops_; *link != nullptr; link = &(*link)->below) {
    if (*link == &loop) {
      *link = loop.below;
      return;
    }
  }
}

ThreadPool::Loop* ThreadPool::Join() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (Loop* loop = loops_; loop != nullptr; loop = loop->below) {
    if (loop->shares.is_empty()) continue;
    loop->helpers.fetch_add(1, std::memory_order_relaxed);
    return loop;
  }
  return nullptr;
}

int32_t ThreadPool::ParallelFor(slipway_context* context, slipway_task task, int32_t min,
                                int32_t extent, uint8_t* closure,
                                const ThreadRecording* recording) {
  if (extent <= 0) return 0;
  Loop loop{context, task, closure, min, {places_.size(), extent}};
  loop.recording = recording;
  if (workers_.empty() || extent == 1) {
    Work(loop);
    return loop.error.load(std::memory_order_relaxed);
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    loop.below = loops_;
    loops_ = &loop;
  }
  loops_begun_.fetch_add(1, std::memory_order_release);
  loops_begun_.notify_all();
  if (ThisThread() == 0) places_[0].store(ThreadProcessor(), std::memory_order_relaxed);
  Work(loop);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Unlink(loop);
  }
  // Nobody comes any more, and who is inside leaves soon.
  const auto is_left = [&loop] { return loop.helpers.load(std::memory_order_acquire) == 0; };
  LookFor(is_left, [] {});
  for (uint32_t left = loops_left_.load(std::memory_order_acquire); !is_left();
       left = loops_left_.load(std::memory_order_acquire)) {
    loops_left_.wait(left, std::memory_order_acquire);
  }
  return loop.error.load(std::memory_order_relaxed);
}

void ThreadPool::RunWorker(size_t number) {
  pool_of_thread = this;
  number_in_pool = number;
  std::vector<int> taken(places_.size());
  const auto spread = [&] { Spread(absl::MakeSpan(taken)); };
  uint32_t seen = 0;
  const auto is_begun = [&] { return loops_begun_.load(std::memory_order_acquire) != seen; };
  while (true) {
    LookFor(is_begun, spread);
    if (!is_begun()) {
      loops_begun_.wait(seen, std::memory_order_acquire);
      // Before it has a part in a loop: where it goes, others may be at work for milliseconds yet.
      spread();
    }
    seen = loops_begun_.load(std::memory_order_acquire);
    if (is_ending_.load(std::memory_order_relaxed)) return;
    Loop* loop = Join();
    if (loop == nullptr) continue;
    Work(*loop);
    // The loop may be gone once nobody is inside.
    if (loop->helpers.fetch_sub(1, std::memory_order_release) == 1) {
      loops_left_.fetch_add(1, std::memory_order_release);
      loops_left_.notify_all();
    }
  }
}

}  // namespace slipway
