// When and for how long something is tried again.
#ifndef SLIPWAY_CORE_RPC_RETRY_H_
#define SLIPWAY_CORE_RPC_RETRY_H_

#include <stop_token>

#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

namespace slipway {

// How long a call is worth trying again while it ends in UNAVAILABLE.
struct RetryPolicy {
  // Counted from the first failure, and anew from a failure after progress. Zero: one try.
  absl::Duration retry_for;
  // When the caller gives up, whatever happens: the call then ends in DEADLINE_EXCEEDED.
  absl::Time until = absl::InfiniteFuture();
  // Ends a call and the wait for the next one: in CANCELLED.
  std::stop_token stop;
};

// Pauses that double from 50 ms to 5 s, each with jitter of a half, so that clients that lost the
// same server do not come back all at once. Not thread-safe.
class Backoff {
 public:
  static constexpr absl::Duration kFirst = absl::Milliseconds(50);
  static constexpr absl::Duration kLongest = absl::Seconds(5);

  absl::Duration Next();
  // The pause after a call that ended in `status`: the next one, or one of about kLongest after
  // failures that only an operator can end.
  absl::Duration After(const absl::Status& status);
  // After a success.
  void Reset() { next_ = kFirst; }

 private:
  absl::Duration Jitter(absl::Duration pause);

  absl::Duration next_ = kFirst;
  absl::BitGen random_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_RETRY_H_
