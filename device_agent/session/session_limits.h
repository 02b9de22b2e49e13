// The numbers that a session on a device is limited by.
#ifndef SLIPWAY_DEVICE_AGENT_SESSION_SESSION_LIMITS_H_
#define SLIPWAY_DEVICE_AGENT_SESSION_SESSION_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "device_agent/runner/runner_window.h"

namespace slipway {

// What clients are told that they may have under way. As data, half of what the runner's window has room for: a
// piece is lent until the client has said that the response came.
inline constexpr int64_t kMaxRequestsUnderWay = 1024;
inline constexpr int64_t kMaxDataUnderWayBytes = kWindowPieceBytes * kWindowPieces / 2;
// A client that sends more is not read until it takes what it is owed.
inline constexpr size_t kMostRequestsHeld = 4 * static_cast<size_t>(kMaxRequestsUnderWay);
inline constexpr int64_t kMostDataHeldBytes = 2 * kMaxDataUnderWayBytes;
// Of answers, which may be large without data: profiles, samples, the logs of runners that ended. A client that has this
// many to take is not read, so that there is one more at most.
inline constexpr int64_t kMostAnswersHeldBytes = kMostDataHeldBytes + (8 << 20);

// Of an error's message, which may quote what the client sent.
inline constexpr size_t kMaxErrorBytes = 64 << 10;

inline constexpr absl::Duration kDefaultRequestTime = absl::Minutes(1);
inline constexpr absl::Duration kMaxRequestTime = absl::Hours(24);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_SESSION_SESSION_LIMITS_H_
