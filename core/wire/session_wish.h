// What a session is opened with, checked.
#ifndef SLIPWAY_CORE_WIRE_SESSION_WISH_H_
#define SLIPWAY_CORE_WIRE_SESSION_WISH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/tag.h"
#include "proto/slipway/v1/session.pb.h"

namespace slipway {

// Bounds of how long a client may not be heard.
inline constexpr absl::Duration kShortestIdle = absl::Seconds(1);
inline constexpr absl::Duration kLongestIdle = absl::Hours(1);

// An open as it is meant, with defaults where it leaves something out.
struct SessionWish {
  std::string device;
  std::string target;
  std::string purpose;
  std::string request_id;
  std::vector<Tag> tags;  // Sorted by key.
  int priority = 0;       // As it came.
  absl::Duration idle;
  absl::Duration longest;
  absl::Duration wait;  // Zero: not at all.
};

// INVALID_ARGUMENT names what is out of range.
absl::StatusOr<SessionWish> ReadWish(const v1::SessionRequest::Open& open);

}  // namespace slipway

#endif  // SLIPWAY_CORE_WIRE_SESSION_WISH_H_
