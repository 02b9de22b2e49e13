#include "device_agent/runner/stream.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

absl::Status Gone() { return absl::UnavailableError("the other process closed the connection"); }

absl::Status WaitFor(int stream, short events, absl::Duration deadline) {
  while (true) {
    int timeout_ms = -1;
    if (deadline != absl::InfiniteDuration()) {
      const absl::Duration left = deadline - SystemClock().Monotonic();
      // Rounded up, so that there is no busy turn before the deadline.
      timeout_ms = static_cast<int>(
          std::clamp<int64_t>(absl::ToInt64Milliseconds(left + absl::Milliseconds(1)), 0, 1 << 30));
    }
    pollfd poll_fd = {.fd = stream, .events = events, .revents = 0};
    const int ready = poll(&poll_fd, 1, timeout_ms);
    if (ready > 0) return absl::OkStatus();
    if (ready == 0) return absl::DeadlineExceededError("no answer in time");
    if (errno != EINTR) return ErrnoStatus(errno, "cannot wait for a stream");
  }
}

// As send(2) and recv(2), which know no pipes.
ssize_t Send(int stream, absl::string_view bytes) {
  const ssize_t sent = send(stream, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent < 0 && errno == ENOTSOCK ? write(stream, bytes.data(), bytes.size()) : sent;
}
ssize_t Receive(int stream, char* to, size_t size) {
  const ssize_t received = recv(stream, to, size, MSG_DONTWAIT);
  return received < 0 && errno == ENOTSOCK ? read(stream, to, size) : received;
}

}  // namespace

absl::Status SendAll(int stream, absl::string_view bytes, absl::Duration deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = Send(stream, bytes);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      SLIPWAY_RETURN_IF_ERROR(WaitFor(stream, POLLOUT, deadline));
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return Gone();
    } else if (errno != EINTR) {
      return ErrnoStatus(errno, "cannot send");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> ReceiveSome(int stream, char* to, size_t size, absl::Duration deadline) {
  while (true) {
    const ssize_t received = Receive(stream, to, size);
    if (received > 0) return static_cast<size_t>(received);
    if (received == 0 || errno == ECONNRESET) return Gone();
    if (errno == EAGAIN) {
      SLIPWAY_RETURN_IF_ERROR(WaitFor(stream, POLLIN, deadline));
    } else if (errno != EINTR) {
      return ErrnoStatus(errno, "cannot receive");
    }
  }
}

}  // namespace slipway
