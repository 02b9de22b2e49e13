#include "device_agent/backoff.h"

#include <algorithm>

namespace slipway {

absl::Duration Backoff::Next() {
  const absl::Duration base = next_;
  next_ = std::min(2 * next_, kLongest);
  return base * absl::Uniform(random_, 0.75, 1.25);
}

}  // namespace slipway
