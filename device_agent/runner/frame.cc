#include "device_agent/runner/frame.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr size_t kLengthBytes = 4;

absl::Status Gone() { return absl::UnavailableError("the other process closed the connection"); }

absl::Status WaitFor(int socket, short events, absl::Time deadline) {
  while (true) {
    int timeout_ms = -1;
    if (deadline != absl::InfiniteFuture()) {
      const absl::Duration left = deadline - absl::Now();
      // Rounded up, so that there is no busy turn before the deadline.
      timeout_ms = static_cast<int>(
          std::clamp<int64_t>(absl::ToInt64Milliseconds(left + absl::Milliseconds(1)), 0, 1 << 30));
    }
    pollfd poll_fd = {.fd = socket, .events = events, .revents = 0};
    const int ready = poll(&poll_fd, 1, timeout_ms);
    if (ready > 0) return absl::OkStatus();
    if (ready == 0) return absl::DeadlineExceededError("no answer in time");
    if (errno != EINTR) return ErrnoStatus(errno, "cannot wait for a socket");
  }
}

absl::Status SendAll(int socket, absl::string_view bytes, absl::Time deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      SLIPWAY_RETURN_IF_ERROR(WaitFor(socket, POLLOUT, deadline));
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return Gone();
    } else if (errno != EINTR) {
      return ErrnoStatus(errno, "cannot send");
    }
  }
  return absl::OkStatus();
}

absl::Status ReceiveAll(int socket, char* to, size_t size, absl::Time deadline) {
  while (size > 0) {
    const ssize_t received = recv(socket, to, size, MSG_DONTWAIT);
    if (received > 0) {
      to += received;
      size -= static_cast<size_t>(received);
    } else if (received == 0 || errno == ECONNRESET) {
      return Gone();
    } else if (errno == EAGAIN) {
      SLIPWAY_RETURN_IF_ERROR(WaitFor(socket, POLLIN, deadline));
    } else if (errno != EINTR) {
      return ErrnoStatus(errno, "cannot receive");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteFrame(int socket, const google::protobuf::MessageLite& message,
                        absl::Time deadline) {
  const size_t size = message.ByteSizeLong();
  if (size > static_cast<size_t>(kMaxFrameBytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a message of ", size, " bytes is over the limit of ", kMaxFrameBytes));
  }
  std::string frame(kLengthBytes, '\0');
  for (size_t i = 0; i < kLengthBytes; ++i) frame[i] = static_cast<char>(size >> (8 * i) & 0xff);
  message.AppendToString(&frame);
  return SendAll(socket, frame, deadline);
}

absl::Status ReadFrame(int socket, google::protobuf::MessageLite& message, absl::Time deadline) {
  char length[kLengthBytes];
  SLIPWAY_RETURN_IF_ERROR(ReceiveAll(socket, length, kLengthBytes, deadline));
  int64_t size = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    size |= int64_t{static_cast<unsigned char>(length[i])} << (8 * i);
  }
  if (size > kMaxFrameBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a message of ", size, " bytes is over the limit of ", kMaxFrameBytes));
  }
  std::string bytes(static_cast<size_t>(size), '\0');
  SLIPWAY_RETURN_IF_ERROR(ReceiveAll(socket, bytes.data(), bytes.size(), deadline));
  if (!message.ParseFromString(bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(size, " bytes are no such message"));
  }
  return absl::OkStatus();
}

}  // namespace slipway
