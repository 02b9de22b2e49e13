#include "core/base/awake_clock.h"

#include <algorithm>

namespace slipway {

absl::Duration AwakeClock::Monotonic() const {
  absl::MutexLock lock(&mutex_);
  Read();
  return awake_for_;
}

bool AwakeClock::is_catching_up() const {
  absl::MutexLock lock(&mutex_);
  Read();
  return read_at_ < caught_up_at_;
}

void AwakeClock::Read() const {
  const absl::Duration now = clock_.Monotonic();
  if (now - read_at_ > kAsleep) {
    caught_up_at_ = now + kCatchUp;
  } else {
    awake_for_ += std::max(absl::ZeroDuration(), now - std::max(read_at_, caught_up_at_));
  }
  read_at_ = now;
}

}  // namespace slipway
