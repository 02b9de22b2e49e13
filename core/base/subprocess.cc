#include "core/base/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/notification.h"
#include "core/base/check.h"
#include "core/base/spawn.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr int kReadBytes = 16 << 10;
constexpr int kPipeBytes = 64 << 10;  // What Linux lets one hold.

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

absl::StatusOr<Pipe> MakePipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return ErrnoStatus(errno, "cannot make a pipe");
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

bool IsTail(const ChildStream& stream) { return stream.kind == ChildStream::Kind::kTail; }

ExitStatus Decode(int status) {
  if (WIFSIGNALED(status)) return {.exit_code = 0, .signal = WTERMSIG(status)};
  return {.exit_code = WEXITSTATUS(status), .signal = 0};
}

}  // namespace

std::string ExitStatus::ToString() const {
  if (signal == 0) return absl::StrCat("exit code ", exit_code);
  const char* const name = sigabbrev_np(signal);
  return absl::StrCat("killed by signal ", signal,
                      name == nullptr ? "" : absl::StrCat(" (SIG", name, ")"));
}

absl::StatusOr<std::unique_ptr<Subprocess>> Subprocess::Start(const SubprocessOptions& options) {
  Pipe output;
  UniqueFd stop_reading;
  if (IsTail(options.stdout_stream) || IsTail(options.stderr_stream)) {
    SLIPWAY_ASSIGN_OR_RETURN(output, MakePipe());
    stop_reading.reset(eventfd(0, EFD_CLOEXEC));
    if (!stop_reading.is_open()) return ErrnoStatus(errno, "cannot make an event");
    // Only our end: the child must be able to wait for room.
    if (fcntl(output.read.get(), F_SETFL, O_NONBLOCK) != 0) {
      return ErrnoStatus(errno, "cannot set up a pipe");
    }
  }
  Pipe lifeline;
  if (options.follow_parent) {
    SLIPWAY_ASSIGN_OR_RETURN(lifeline, MakePipe());
  }
  Pipe limits;
  SubprocessOptions spawned = options;
  if (options.waits_for_limits) {
    SLIPWAY_ASSIGN_OR_RETURN(limits, MakePipe());
    spawned.stdin_stream = ChildStream::Fd(limits.read.get());
  }
  std::unique_ptr<Subprocess> child(
      new Subprocess(std::move(output.read), std::move(stop_reading), std::move(lifeline.write)));
  SLIPWAY_RETURN_IF_ERROR(child->Run(spawned, output.write.get(), lifeline.read.get()));
  return child;
}

Subprocess::Subprocess(UniqueFd output, UniqueFd stop_reading, UniqueFd lifeline)
    : output_(std::move(output)),
      stop_reading_(std::move(stop_reading)),
      lifeline_(std::move(lifeline)) {}

absl::Status Subprocess::Run(const SubprocessOptions& options, int output_fd, int lifeline_fd) {
  absl::Status status;
  absl::Notification started;
  waiter_ = std::thread([&] {
    const absl::StatusOr<pid_t> pid = Spawn(options, output_fd, lifeline_fd);
    status = pid.status();
    if (pid.ok()) {
      pid_ = *pid;
      absl::MutexLock lock(&mutex_);
      has_child_ = true;
      // It is not reaped yet, and its number not another's: the limits reach the right one.
      status = SetLimits(*pid, options.limits);
      if (status.ok() && options.group != nullptr) status = options.group->Add(*pid);
    }
    // What is the caller's may be gone after this.
    started.Notify();
    if (pid.ok()) WaitForEnd(*pid);
  });
  started.WaitForNotification();
  return status;
}

Subprocess::~Subprocess() {
  Kill();
  waiter_.join();
}

void Subprocess::WaitForEnd(pid_t pid) {
  if (output_.is_open()) reader_ = std::thread([this] { ReadOutput(); });
  siginfo_t info;
  // WNOWAIT leaves the child unreaped, and its number taken, until nobody can signal it any more.
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0) {
    SLIPWAY_CHECK(errno == EINTR, "somebody else has waited for a child of ours");
  }
  kill(-pid, SIGKILL);  // What it has left behind in its group.
  if (reader_.joinable()) {
    const uint64_t one = 1;
    // Cannot fail: the counter is far from its end.
    [[maybe_unused]] const ssize_t written = write(stop_reading_.get(), &one, sizeof(one));
    reader_.join();
  }
  absl::MutexLock lock(&mutex_);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    SLIPWAY_CHECK(errno == EINTR, "somebody else has waited for a child of ours");
  }
  has_child_ = false;
  exit_status_ = Decode(status);
}

void Subprocess::ReadOutput() {
  bool is_stopping = false;
  while (true) {
    pollfd fds[] = {{.fd = output_.get(), .events = POLLIN, .revents = 0},
                    {.fd = stop_reading_.get(), .events = POLLIN, .revents = 0}};
    if (!is_stopping) {
      if (poll(fds, 2, -1) < 0) continue;  // EINTR
      // The child has ended. What it wrote is in the pipe; do not wait for others who hold it open.
      is_stopping = fds[1].revents != 0;
    }
    absl::MutexLock lock(&output_mutex_);
    const ssize_t count = ReadSome();
    if (count < 0 && errno == EAGAIN && !is_stopping) continue;
    if (count <= 0) return;
  }
}

ssize_t Subprocess::ReadSome() {
  char buffer[kReadBytes];
  ssize_t count = 0;
  do {
    count = read(output_.get(), buffer, sizeof(buffer));
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return count;
  tail_.append(buffer, static_cast<size_t>(count));
  // Cut at twice the size, so that each byte is moved at most once.
  if (tail_.size() > 2 * kMaxTailBytes) tail_.erase(0, tail_.size() - kMaxTailBytes);
  if (follower_) follower_(absl::string_view(buffer, static_cast<size_t>(count)));
  return count;
}

void Subprocess::ReadOutputNow() {
  absl::MutexLock lock(&output_mutex_);
  // Not forever when it goes on writing: a pipe holds no more.
  for (int i = 0; i < kPipeBytes / kReadBytes; ++i) {
    if (ReadSome() < kReadBytes) return;
  }
}

void Subprocess::FollowOutput(std::function<void(absl::string_view)> take) {
  absl::MutexLock lock(&output_mutex_);
  take(Tail());
  follower_ = std::move(take);
}

absl::StatusOr<ExitStatus> Subprocess::Wait(absl::Duration timeout) const {
  absl::MutexLock lock(&mutex_);
  const auto has_ended = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return exit_status_.has_value();
  };
  if (!mutex_.AwaitWithTimeout(absl::Condition(&has_ended), timeout)) {
    return absl::DeadlineExceededError(
        absl::StrCat("process ", pid_, " is still running after ", absl::FormatDuration(timeout)));
  }
  return *exit_status_;
}

std::optional<ExitStatus> Subprocess::Poll() const {
  absl::MutexLock lock(&mutex_);
  return exit_status_;
}

void Subprocess::Signal(int signal) {
  absl::MutexLock lock(&mutex_);
  if (has_child_) kill(-pid_, signal);
}

void Subprocess::Terminate() { Signal(SIGTERM); }
void Subprocess::Kill() { Signal(SIGKILL); }

absl::string_view Subprocess::Tail() const {
  const size_t surplus = tail_.size() > kMaxTailBytes ? tail_.size() - kMaxTailBytes : 0;
  return absl::string_view(tail_).substr(surplus);
}

std::string Subprocess::OutputTail() const {
  absl::MutexLock lock(&output_mutex_);
  return std::string(Tail());
}

}  // namespace slipway
