#include "client/trace/clock_offset.h"

#include <algorithm>

namespace slipway {

void OffsetBounds::After(absl::Time theirs, absl::Time ours) {
  most_ = std::min(most_, theirs - ours);
}

void OffsetBounds::Before(absl::Time theirs, absl::Time ours) {
  least_ = std::max(least_, theirs - ours);
}

absl::Duration OffsetBounds::Choose() const {
  if (contradict()) return least_ + (most_ - least_) / 2;
  return std::clamp(absl::ZeroDuration(), least_, most_);
}

}  // namespace slipway
