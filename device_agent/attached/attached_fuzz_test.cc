// Any bytes from an attached device: an error, or answers to what it was asked.
#include <stdlib.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/wire/digest_proto.h"
#include "device_agent/attached/attached.pb.h"
#include "device_agent/attached/expected_answers.h"
#include "device_agent/attached/stream_greeting.h"
#include "device_agent/runner/frame.h"
#include "device_agent/runner/runner.pb.h"

namespace {

constexpr int64_t kReadBytes = 8;

void Check(bool holds) {
  if (!holds) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace slipway;
  int fds[2];
  // More than a socket holds at once would block.
  if (size > 4096 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return 0;
  const UniqueFd reader(fds[0]);
  UniqueFd writer(fds[1]);
  // An input that begins with a zero comes behind the greeting.
  if (size > 0 && data[0] == 0) {
    Check(SendGreeting(writer.get(), absl::InfiniteDuration()).ok());
    ++data;
    --size;
  }
  if (send(writer.get(), data, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) return 0;
  writer.reset();
  if (!AwaitGreeting(reader.get(), absl::InfiniteDuration()).ok()) return 0;

  const Digest named = Digest::Of("");
  ExpectedAnswers answers;
  runner::Request put;
  *put.mutable_put()->mutable_tensor()->mutable_blob() = ToProto(named);
  answers.Ask(put, absl::ZeroDuration());
  runner::Request read;
  read.mutable_operation()->mutable_read();
  read.set_data_size(kReadBytes);
  answers.Ask(read, absl::ZeroDuration());
  FrameReader frames(reader.get());
  attached::FromDevice message;
  int taken = 0;
  while (frames.Read(message, absl::InfiniteDuration()).ok()) {
    if (message.has_response() && answers.Take(message, absl::ZeroDuration()).ok()) {
      Check(++taken <= 2 && static_cast<int64_t>(message.data().size()) <= kReadBytes);
    }
    for (const attached::FromDevice::Need::Rest& rest : message.need().rests()) {
      const auto given = answers.Give(rest);
      Check(!given.ok() || *given == named);
    }
  }
  return 0;
}
