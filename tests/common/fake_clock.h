// FakeClock: time that moves only when a test says so.
#ifndef SLIPWAY_TESTS_COMMON_FAKE_CLOCK_H_
#define SLIPWAY_TESTS_COMMON_FAKE_CLOCK_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/base/clock.h"

namespace slipway {

// Thread-safe. Starts at 2026-01-01T00:00:00Z, monotonic 0.
class FakeClock final : public Clock {
 public:
  FakeClock() = default;
  explicit FakeClock(absl::Time now) : now_(now) {}

  absl::Time Now() const override {
    absl::MutexLock lock(&mutex_);
    return now_;
  }
  absl::Duration Monotonic() const override {
    absl::MutexLock lock(&mutex_);
    return monotonic_;
  }

  // Moves both clocks. REQUIRES: step >= 0.
  void Advance(absl::Duration step) {
    absl::MutexLock lock(&mutex_);
    now_ += step;
    monotonic_ += step;
  }
  // Moves the wall clock alone, as an administrator or NTP would; may go back.
  void JumpTo(absl::Time now) {
    absl::MutexLock lock(&mutex_);
    now_ = now;
  }

 private:
  mutable absl::Mutex mutex_;
  absl::Time now_ ABSL_GUARDED_BY(mutex_) = absl::FromUnixSeconds(1767225600);
  absl::Duration monotonic_ ABSL_GUARDED_BY(mutex_) = absl::ZeroDuration();
};

}  // namespace slipway

#endif  // SLIPWAY_TESTS_COMMON_FAKE_CLOCK_H_
