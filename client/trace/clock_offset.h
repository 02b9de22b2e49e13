// OffsetBounds: how far another machine's clock is ahead of one's own, as far as moments tell that cannot have been in
// another order.
#ifndef SLIPWAY_CLIENT_TRACE_CLOCK_OFFSET_H_
#define SLIPWAY_CLIENT_TRACE_CLOCK_OFFSET_H_

#include "absl/time/time.h"

namespace slipway {

class OffsetBounds {
 public:
  // What the other clock says as `theirs` came after, or with, what one's own says as `ours`.
  void After(absl::Time theirs, absl::Time ours);
  // Likewise before, or with it.
  void Before(absl::Time theirs, absl::Time ours);

  // By how much the other clock is ahead at least and at most; infinite where nothing tells.
  absl::Duration least() const { return least_; }
  absl::Duration most() const { return most_; }
  // No such offset exists: a clock was set meanwhile.
  bool contradict() const { return least_ > most_; }
  // The smallest that is possible, forwards or back, so that clocks which may be right are taken as they are; the middle where there is
  // none.
  absl::Duration Choose() const;

 private:
  absl::Duration least_ = -absl::InfiniteDuration();
  absl::Duration most_ = absl::InfiniteDuration();
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_TRACE_CLOCK_OFFSET_H_
