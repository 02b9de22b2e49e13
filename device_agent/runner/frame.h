// Frames: messages with their length over a stream socket.
#ifndef SLIPWAY_DEVICE_AGENT_RUNNER_FRAME_H_
#define SLIPWAY_DEVICE_AGENT_RUNNER_FRAME_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/protobuf/message_lite.h"

namespace slipway {

// Room for a manifest and for a tensor that is sent inline.
inline constexpr int64_t kMaxFrameBytes = 64 << 20;

// UNAVAILABLE when the peer is gone; INVALID_ARGUMENT for a message over the limit;
// DEADLINE_EXCEEDED.
absl::Status WriteFrame(int socket, const google::protobuf::MessageLite& message,
                        absl::Time deadline);

// UNAVAILABLE when the peer closed; INVALID_ARGUMENT for a length over the limit (nothing is
// allocated for it) or bytes that are no such message; DEADLINE_EXCEEDED.
absl::Status ReadFrame(int socket, google::protobuf::MessageLite& message, absl::Time deadline);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_RUNNER_FRAME_H_
