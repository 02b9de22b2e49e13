// Streams of bytes between processes: sockets, or pipes that do not block (O_NONBLOCK) of a process that ignores SIGPIPE.
#ifndef SLIPWAY_DEVICE_AGENT_RUNNER_STREAM_H_
#define SLIPWAY_DEVICE_AGENT_RUNNER_STREAM_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace slipway {

// Deadlines are times of Clock::Monotonic: a wall clock that is set ends nothing. UNAVAILABLE when the peer is gone;
// DEADLINE_EXCEEDED.

// Returns when all of it is on its way.
absl::Status SendAll(int stream, absl::string_view bytes, absl::Duration deadline);

// Waits for bytes, and takes those that are there: at least one, at most `size`.
absl::StatusOr<size_t> ReceiveSome(int stream, char* to, size_t size, absl::Duration deadline);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_RUNNER_STREAM_H_
