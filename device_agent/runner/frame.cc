#include "device_agent/runner/frame.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "device_agent/runner/stream.h"

namespace slipway {
namespace {

constexpr size_t kLengthBytes = 4;
constexpr size_t kReadBytes = 64 << 10;

}  // namespace

absl::Status WriteFrame(int stream, const google::protobuf::MessageLite& message,
                        absl::Duration deadline) {
  const size_t size = message.ByteSizeLong();
  if (size > static_cast<size_t>(kMaxFrameBytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a message of ", size, " bytes is over the limit of ", kMaxFrameBytes));
  }
  std::string frame(kLengthBytes, '\0');
  for (size_t i = 0; i < kLengthBytes; ++i) frame[i] = static_cast<char>(size >> (8 * i) & 0xff);
  message.AppendToString(&frame);
  return SendAll(stream, frame, deadline);
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
    SLIPWAY_ASSIGN_OR_RETURN(const size_t received, ReceiveSome(stream_, buffer_.data() + end_,
                                                                buffer_.size() - end_, deadline));
    end_ += received;
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
