#include "device_agent/backoff.h"

#include <algorithm>

#include "absl/synchronization/notification.h"

namespace slipway {

absl::Duration Backoff::Next() {
  const absl::Duration base = next_;
  next_ = std::min(2 * next_, kLongest);
  return base * absl::Uniform(random_, 0.75, 1.25);
}

void SleepUnlessStopped(absl::Duration duration, std::stop_token stop) {
  absl::Notification stopped;
  const std::stop_callback wake(stop, [&stopped] { stopped.Notify(); });
  stopped.WaitForNotificationWithTimeout(duration);
}

}  // namespace slipway
