#include "tests/common/service_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"

namespace slipway::testing {
namespace {

constexpr int kReadyFd = 3;
constexpr int64_t kMaxLogBytes = 64 << 20;
constexpr size_t kLogTailBytes = 4096;

}  // namespace

absl::Status ServiceProcess::Start() {
  SLIPWAY_RETURN_IF_ERROR(Launch());
  return AwaitReady();
}

absl::Status ServiceProcess::Launch() {
  const UniqueFd log(
      open(options_.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log.is_open()) return ErrnoStatus(errno, options_.log_file);
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return ErrnoStatus(errno, "cannot make a pipe");
  ready_.reset(fds[0]);
  const UniqueFd write_end(fds[1]);
  SubprocessOptions process;
  process.argv = options_.argv;
  process.argv.push_back(absl::StrCat("--ready-fd=", kReadyFd));
  process.environment = options_.environment;
  process.fds = {{kReadyFd, write_end.get()}};
  process.stdout_stream = ChildStream::Fd(log.get());
  process.stderr_stream = ChildStream::Fd(log.get());
  process.limits = options_.limits;
  SLIPWAY_ASSIGN_OR_RETURN_WITH(process_, Subprocess::Start(process), options_.name);
  return absl::OkStatus();
}

absl::Status ServiceProcess::AwaitReady() {
  const absl::Time deadline = absl::Now() + options_.ready_within;
  ready_line_.clear();
  while (!absl::EndsWith(ready_line_, "\n")) {
    pollfd poll_fd = {.fd = ready_.get(), .events = POLLIN, .revents = 0};
    const int64_t left = absl::ToInt64Milliseconds(deadline - absl::Now());
    if (left <= 0) {
      return absl::DeadlineExceededError(absl::StrCat(options_.name, " is not ready after ",
                                                      absl::FormatDuration(options_.ready_within)));
    }
    if (poll(&poll_fd, 1, static_cast<int>(left)) <= 0) continue;
    char buffer[512];
    const ssize_t count = read(ready_.get(), buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    ready_line_.append(buffer, static_cast<size_t>(count));
  }
  if (!ready_line_.empty()) {
    ready_line_ = std::string(absl::StripSuffix(ready_line_, "\n"));
    return absl::OkStatus();
  }
  SLIPWAY_ASSIGN_OR_RETURN(const ExitStatus status, process_->Wait(absl::Seconds(10)));
  process_.reset();
  std::string log = Log();
  if (log.size() > kLogTailBytes) log.erase(0, log.size() - kLogTailBytes);
  return absl::AbortedError(
      absl::StrCat(options_.name, " ended before it was ready: ", status.ToString(), "\n", log));
}

void ServiceProcess::Kill() { process_.reset(); }

absl::Status ServiceProcess::Suspend() {
  siginfo_t stopped = {};
  if (kill(pid(), SIGSTOP) != 0 || waitid(P_PID, pid(), &stopped, WSTOPPED) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("suspend ", options_.name));
  }
  return absl::OkStatus();
}

void ServiceProcess::Resume() { kill(pid(), SIGCONT); }

absl::StatusOr<ExitStatus> ServiceProcess::Stop(absl::Duration timeout) {
  process_->Terminate();
  absl::StatusOr<ExitStatus> status = process_->Wait(timeout);
  process_.reset();
  return status;
}

std::string ServiceProcess::Log() const {
  absl::StatusOr<std::string> log = ReadFile(options_.log_file, kMaxLogBytes);
  return log.ok() ? *std::move(log) : std::string();
}

}  // namespace slipway::testing
