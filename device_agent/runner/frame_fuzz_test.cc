// Any bytes from a runner: an error, or a message. A program that went wild may have written them.
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "core/base/files.h"
#include "device_agent/runner/frame.h"
#include "device_agent/runner/runner.pb.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  int fds[2];
  // More than a socket holds at once would block.
  if (size > 4096 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return 0;
  const slipway::UniqueFd reader(fds[0]);
  slipway::UniqueFd writer(fds[1]);
  if (send(writer.get(), data, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) return 0;
  writer.reset();
  slipway::runner::Response response;
  slipway::FrameReader frames(reader.get());
  while (frames.Read(response, absl::InfiniteDuration()).ok()) {
  }
  return 0;
}
