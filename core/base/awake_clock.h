// AwakeClock: the time in which this process was awake, to judge others' silence by.
//
// A process that was stopped (SIGSTOP, a debugger, a virtual machine that was suspended) has heard nobody meanwhile, and
// when it goes on, what others sent waits to be read: it must not blame them for the time in which it did not listen.
#ifndef SLIPWAY_CORE_BASE_AWAKE_CLOCK_H_
#define SLIPWAY_CORE_BASE_AWAKE_CLOCK_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/base/clock.h"

namespace slipway {

// Thread-safe. Its Monotonic stands still while nobody can read it, and for kCatchUp after that; its Now is the other
// clock's.
class AwakeClock final : public Clock {
 public:
  // Somebody should read it so often.
  static constexpr absl::Duration kReadEvery = absl::Milliseconds(500);
  // Reads that lie further apart mean that the process was asleep.
  static constexpr absl::Duration kAsleep = absl::Seconds(1);
  // For so long afterwards, what came meanwhile may not have been read.
  static constexpr absl::Duration kCatchUp = absl::Seconds(1);

  // `clock` outlives it.
  explicit AwakeClock(const Clock* clock)
      : clock_(*clock), read_at_(clock->Monotonic()), awake_for_(read_at_) {}

  absl::Time Now() const override { return clock_.Now(); }
  absl::Duration Monotonic() const override;
  // Whether the process has just woken up.
  bool is_catching_up() const;

 private:
  void Read() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Clock& clock_;
  mutable absl::Mutex mutex_;
  mutable absl::Duration read_at_ ABSL_GUARDED_BY(mutex_);
  mutable absl::Duration caught_up_at_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
  mutable absl::Duration awake_for_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_AWAKE_CLOCK_H_
