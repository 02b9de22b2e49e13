// TimerQueue: runs things later, on a thread of its own.
#ifndef SLIPWAY_SERVER_TIMER_QUEUE_H_
#define SLIPWAY_SERVER_TIMER_QUEUE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/base/clock.h"

namespace slipway::server {

// Thread-safe. Real time: what decides by the time takes a Clock; this only wakes it.
class TimerQueue {
 public:
  using Id = uint64_t;

  TimerQueue();
  // Stops.
  ~TimerQueue();

  // Drops what is not due yet, waits for what runs, and takes nothing more: work that runs now may call
  // After to the end. Not from within work.
  void Stop();

  // Runs `work`, which must be quick, after `delay`; never, once stopped.
  Id After(absl::Duration delay, std::function<void()> work);
  // Drops it, unless it runs or ran already.
  void Cancel(Id id);
  // The same, and waits for its end if it runs. Not from within it, nor with a lock held that it takes.
  void CancelAndWait(Id id);

 private:
  using Key = std::pair<absl::Duration, Id>;  // Monotonic.
  void Loop();

  const SystemClock clock_;
  absl::Mutex mu_;
  absl::CondVar changed_;
  std::map<Key, std::function<void()>> waiting_ ABSL_GUARDED_BY(mu_);
  std::map<Id, absl::Duration> times_ ABSL_GUARDED_BY(mu_);
  Id last_id_ ABSL_GUARDED_BY(mu_) = 0;
  Id running_ ABSL_GUARDED_BY(mu_) = 0;  // 0: none.
  bool ends_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_TIMER_QUEUE_H_
