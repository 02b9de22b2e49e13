#include "core/base/lifeline.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <thread>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/log.h"

namespace slipway {
namespace {

constexpr absl::Duration kGrace = absl::Seconds(5);

[[noreturn]] void EndWithParent(int fd) {
  while (true) {
    pollfd lifeline = {.fd = fd, .events = POLLIN, .revents = 0};
    // Nobody writes to it: whatever comes is the end.
    if (poll(&lifeline, 1, -1) > 0) break;
  }
  Log(LogLevel::kInfo, "the parent process has ended, ending too");
  kill(getpid(), SIGTERM);
  absl::SleepFor(kGrace);
  // 0 is the own group, which Subprocess has made for this process and its children.
  kill(0, SIGKILL);
  _exit(1);
}

}  // namespace

void PassLifelineOn() {
  const char* const text = getenv(kLifelineVariable);
  int fd = -1;
  if (text != nullptr && absl::SimpleAtoi(text, &fd) && fd > STDERR_FILENO) {
    fcntl(fd, F_SETFD, 0);
  }
}

absl::Status FollowParent() {
  const char* const text = getenv(kLifelineVariable);
  if (text == nullptr) return absl::OkStatus();
  int fd = -1;
  // F_GETFD fails when there is no such descriptor. Children must not hold it.
  if (!absl::SimpleAtoi(text, &fd) || fd <= STDERR_FILENO || fcntl(fd, F_GETFD) < 0 ||
      fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        kLifelineVariable, " is '", absl::CHexEscape(text), "', which is no open descriptor"));
  }
  std::thread([fd] { EndWithParent(fd); }).detach();
  return absl::OkStatus();
}

}  // namespace slipway
