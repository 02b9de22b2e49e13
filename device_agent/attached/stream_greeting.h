// The greeting of a stream: where what an attached device says begins, behind whatever its shell says first, and whether the bytes
// arrive as they were sent.
#ifndef SLIPWAY_DEVICE_AGENT_ATTACHED_STREAM_GREETING_H_
#define SLIPWAY_DEVICE_AGENT_ATTACHED_STREAM_GREETING_H_

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace slipway {

// Terminals change line ends and control characters on their way: this has some of each kind.
inline constexpr char kStreamGreeting[] =
    "slipway-attached-device \x01\x03\x04\x11\x13\x7f\xff\r\n\n\r";

// Deadlines and streams are those of runner/stream.h. Reads up to the greeting's end and nothing behind it. UNAVAILABLE when the stream ends before; FAILED_PRECONDITION when bytes
// are changed, or after 64 KiB without one, with what was read instead; DEADLINE_EXCEEDED.
absl::Status AwaitGreeting(int stream, absl::Duration deadline);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ATTACHED_STREAM_GREETING_H_
