#include "core/rpc/retry.h"

#include <algorithm>

namespace slipway {

absl::Duration Backoff::Jitter(absl::Duration pause) {
  return pause * absl::Uniform(random_, 0.75, 1.25);
}

absl::Duration Backoff::Next() {
  const absl::Duration pause = next_;
  next_ = std::min(2 * next_, kLongest);
  return Jitter(pause);
}

absl::Duration Backoff::After(const absl::Status& status) {
  switch (status.code()) {
    // Not ALREADY_EXISTS: the other one may be the caller's former life, whose end the server has yet
    // to notice.
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
      return Jitter(kLongest);
    default:
      return Next();
  }
}

}  // namespace slipway
