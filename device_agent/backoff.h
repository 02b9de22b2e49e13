// Backoff: how long to wait before trying again.
#ifndef SLIPWAY_DEVICE_AGENT_BACKOFF_H_
#define SLIPWAY_DEVICE_AGENT_BACKOFF_H_

#include "absl/random/random.h"
#include "absl/time/time.h"

namespace slipway {

// Pauses that double from 50 ms to 5 s, each with jitter of a half, so that agents that lost the
// same server do not come back all at once. Not thread-safe.
class Backoff {
 public:
  static constexpr absl::Duration kFirst = absl::Milliseconds(50);
  static constexpr absl::Duration kLongest = absl::Seconds(5);

  absl::Duration Next();
  // After a success.
  void Reset() { next_ = kFirst; }

 private:
  absl::Duration next_ = kFirst;
  absl::BitGen random_;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_BACKOFF_H_
