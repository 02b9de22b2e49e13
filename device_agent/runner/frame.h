// Frames: messages with their length over a stream (stream.h).
#ifndef SLIPWAY_DEVICE_AGENT_RUNNER_FRAME_H_
#define SLIPWAY_DEVICE_AGENT_RUNNER_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/protobuf/message_lite.h"

namespace slipway {

// Room for a manifest and for a tensor that is sent inline.
inline constexpr int64_t kMaxFrameBytes = 64 << 20;

// Deadlines are times of Clock::Monotonic: a wall clock that is set ends nothing.

// UNAVAILABLE when the peer is gone; INVALID_ARGUMENT for a message over the limit;
// DEADLINE_EXCEEDED.
absl::Status WriteFrame(int stream, const google::protobuf::MessageLite& message,
                        absl::Duration deadline);

// Reads the frames of a stream, as many at a time as are there. Not thread-safe.
class FrameReader {
 public:
  explicit FrameReader(int stream) : stream_(stream) {}

  // UNAVAILABLE when the peer closed; INVALID_ARGUMENT for a length over the limit (nothing is
  // allocated for it) or bytes that are no such message; DEADLINE_EXCEEDED, and then a later call goes on.
  absl::Status Read(google::protobuf::MessageLite& message, absl::Duration deadline);

  // Whether a whole frame has been received that was not yet read.
  bool HasFrame() const;

 private:
  absl::StatusOr<size_t> FrameSize() const;
  absl::Status Receive(size_t wanted, absl::Duration deadline);

  const int stream_;
  std::string buffer_;
  size_t begin_ = 0;  // Of what was not read.
  size_t end_ = 0;    // Of what was received.
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_RUNNER_FRAME_H_
