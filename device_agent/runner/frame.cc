#include "device_agent/runner/frame.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr size_t kLengthBytes = 4;
constexpr size_t kReadBytes = 64 << 10;

absl::Status Gone() { return absl::UnavailableError("the other process closed the connection"); }

absl::Status WaitFor(int socket, short events, absl::Duration deadline) {
  while (true) {
    int timeout_ms = -1;
    if (deadline != absl::InfiniteDuration()) {
      const absl::Duration left = deadline - SystemClock().Monotonic();
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

absl::Status SendAll(int socket, absl::string_view bytes, absl::Duration deadline) {
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

}  // namespace

absl::Status WriteFrame(int socket, const google::protobuf::MessageLite& message,
                        absl::Duration deadline) {
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

absl::StatusOr<size_t> FrameReader::FrameSize() const {
  if (end_ - begin_ < kLengthBytes) return kLengthBytes;
  int64_t size = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    size |= int64_t{static_cast<unsigned char>(buffer_[begin_ + i])} << (8 * i);
  }
  if (size > kMaxFrameBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a message of ", size, " bytes is over the limit of ", kMaxFrameBytes));
  }
  return kLengthBytes + static_cast<size_t>(size);
}

bool FrameReader::HasFrame() const {
  if (end_ - begin_ < kLengthBytes) return false;
  const absl::StatusOr<size_t> size = FrameSize();
  // What is too large is there to be refused.
  return !size.ok() || end_ - begin_ >= *size;
}

absl::Status FrameReader::Receive(size_t wanted, absl::Duration deadline) {
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  buffer_.resize(std::max(wanted, kReadBytes));
  while (end_ < wanted) {
    const ssize_t received =
        recv(socket_, buffer_.data() + end_, buffer_.size() - end_, MSG_DONTWAIT);
    if (received > 0) {
      end_ += static_cast<size_t>(received);
    } else if (received == 0 || errno == ECONNRESET) {
      return Gone();
    } else if (errno == EAGAIN) {
      SLIPWAY_RETURN_IF_ERROR(WaitFor(socket_, POLLIN, deadline));
    } else if (errno != EINTR) {
      return ErrnoStatus(errno, "cannot receive");
    }
  }
  return absl::OkStatus();
}

absl::Status FrameReader::Read(google::protobuf::MessageLite& message, absl::Duration deadline) {
  if (end_ - begin_ < kLengthBytes) SLIPWAY_RETURN_IF_ERROR(Receive(kLengthBytes, deadline));
  SLIPWAY_ASSIGN_OR_RETURN(const size_t size, FrameSize());
  if (end_ - begin_ < size) SLIPWAY_RETURN_IF_ERROR(Receive(size, deadline));
  const char* const bytes = buffer_.data() + begin_ + kLengthBytes;
  begin_ += size;
  if (!message.ParseFromArray(bytes, static_cast<int>(size - kLengthBytes))) {
    return absl::InvalidArgumentError(
        absl::StrCat(size - kLengthBytes, " bytes are no such message"));
  }
  if (begin_ == end_ && buffer_.size() > kReadBytes) {
    // A large frame is the exception.
    buffer_ = std::string();
    begin_ = end_ = 0;
  }
  return absl::OkStatus();
}

}  // namespace slipway
