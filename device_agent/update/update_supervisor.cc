#include "device_agent/update/update_supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/lifeline.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/base/subprocess.h"
#include "core/wire/digest_proto.h"
#include "device_agent/update/update_folder.h"
#include "device_agent/update/update_state.h"

namespace slipway {
namespace {

// A process that is told to end has so long for it, before a trial is taken for failed.
constexpr absl::Duration kTimeToEnd = absl::Seconds(5);

// One child, from its start to its end.
class Child {
 public:
  static absl::StatusOr<std::unique_ptr<Child>> Start(const std::string& binary,
                                                      const SupervisorOptions& options,
                                                      int ready_fd) {
    int pipe_fds[2];
    if (pipe2(pipe_fds, O_CLOEXEC) != 0) return ErrnoStatus(errno, "cannot make a pipe");
    std::unique_ptr<Child> child(new Child);
    child->reported_.reset(pipe_fds[0]);
    const UniqueFd theirs(pipe_fds[1]);
    child->ended_.reset(eventfd(0, EFD_CLOEXEC));
    if (!child->ended_.is_open()) return ErrnoStatus(errno, "cannot make an eventfd");
    const int number = ready_fd == 3 ? 4 : 3;
    SubprocessOptions process;
    process.argv = {kOwnExecutable, kRunKeptCommand, binary};
    process.argv.insert(process.argv.end(), options.argv.begin() + 1, options.argv.end());
    process.environment = {{kReportedVariable, absl::StrCat(number)}};
    process.fds = {{number, theirs.get()}};
    if (ready_fd >= 0) process.fds.emplace_back(ready_fd, ready_fd);
    process.limits.core_dumps = true;
    process.follow_parent = true;
    SLIPWAY_ASSIGN_OR_RETURN(child->process_, Subprocess::Start(process));
    child->waiter_ = std::thread([child = child.get()] {
      child->process_->Wait().IgnoreError();
      const uint64_t one = 1;
      if (write(child->ended_.get(), &one, sizeof(one)) < 0) abort();
    });
    return child;
  }
  ~Child() {
    if (process_ != nullptr) process_->Kill();
    if (waiter_.joinable()) waiter_.join();
  }

  Subprocess& process() { return *process_; }
  int ended_fd() const { return ended_.get(); }
  // -1 once it has reported, or can no more.
  int reported_fd() const { return reported_.get(); }
  // Whether it has, of a descriptor that is readable.
  bool ReadReported() {
    char byte = 0;
    const bool has = read(reported_.get(), &byte, 1) == 1;
    reported_.reset();
    return has;
  }

 private:
  Child() = default;
  UniqueFd reported_;
  UniqueFd ended_;
  std::unique_ptr<Subprocess> process_;
  std::thread waiter_;
};

class Supervisor {
 public:
  Supervisor(const SupervisorOptions& options, const Digest& installed, UniqueFd signals)
      : options_(options),
        folder_(options.state_dir),
        installed_(installed),
        signals_(std::move(signals)),
        ready_fd_(options.ready_fd) {}

  absl::StatusOr<std::optional<int>> Run() {
    while (true) {
      BinaryChoice choice;
      SLIPWAY_RETURN_IF_ERROR(Remember([&](agent::UpdateState state) {
        choice = ChooseBinary(std::move(state), installed_,
                              [this](const Digest& binary) { return folder_.Check(binary); });
        return choice.state;
      }));
      if (!choice.kept.has_value()) {
        if (!state_.failure().empty()) {
          Log(LogLevel::kWarning, "the installed agent runs", {{"why", state_.failure()}});
        }
        return std::optional<int>();
      }
      SLIPWAY_ASSIGN_OR_RETURN(const std::optional<int> end, RunKept(choice));
      if (end.has_value()) return end;
    }
  }

 private:
  // Unset: something else is to run.
  absl::StatusOr<std::optional<int>> RunKept(const BinaryChoice& choice) {
    is_trial_ = choice.is_trial;
    Log(LogLevel::kInfo, is_trial_ ? "tries another agent" : "runs another agent in its place",
        {{"version", choice.kept->version()}, {"binary", choice.kept->binary().sha256()}});
    SLIPWAY_ASSIGN_OR_RETURN(const Digest binary, FromProto(choice.kept->binary()));
    const absl::StatusOr<std::unique_ptr<Child>> child =
        Child::Start(folder_.PathOf(binary), options_, ready_fd_);
    if (!child.ok()) {
      if (!is_trial_) return std::optional<int>();  // It counts as a quick end.
      return Failed(absl::StrCat("cannot be started: ", child.status().message()));
    }
    // Whoever waits for it sees its end when the child lets go of it.
    if (ready_fd_ >= 0) close(std::exchange(ready_fd_, -1));
    return Watch(**child);
  }

  absl::StatusOr<std::optional<int>> Watch(Child& child) {
    const absl::Duration began = clock_.Monotonic();
    bool is_well = false;
    while (true) {
      absl::Duration until = absl::InfiniteDuration();
      if (is_trial_) {
        until = began + options_.report_within;
      } else if (!is_well) {
        until = began + options_.well_after;
      }
      pollfd fds[] = {{.fd = child.ended_fd(), .events = POLLIN, .revents = 0},
                      {.fd = signals_.get(), .events = POLLIN, .revents = 0},
                      {.fd = child.reported_fd(), .events = POLLIN, .revents = 0}};
      if (poll(fds, 3, TimeoutTo(until)) < 0 && errno != EINTR) {
        return ErrnoStatus(errno, "cannot wait for the agent");
      }
      if (fds[1].revents != 0) return Stop(child);
      if (fds[2].revents != 0 && child.ReadReported() && is_trial_) {
        is_trial_ = false;
        Log(LogLevel::kInfo, "the server has heard of the agent, which runs from now on",
            {{"version", state_.trial().version()}});
        SLIPWAY_RETURN_IF_ERROR(Remember(AfterReported));
      }
      if (fds[0].revents != 0) return Ended(child);
      if (clock_.Monotonic() < until) continue;
      if (is_trial_) {
        child.process().Terminate();
        if (!child.process().Wait(kTimeToEnd).ok()) child.process().Kill();
        return Failed(absl::StrCat("did not report to the server within ",
                                   absl::FormatDuration(options_.report_within)));
      }
      is_well = true;
      SLIPWAY_RETURN_IF_ERROR(Remember(AfterRanWell));
    }
  }

  int TimeoutTo(absl::Duration until) const {
    if (until == absl::InfiniteDuration()) return -1;
    const int64_t left =
        absl::ToInt64Milliseconds(until - clock_.Monotonic() + absl::Milliseconds(1));
    return static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30));
  }

  // As whoever stopped this process would have stopped the agent.
  absl::StatusOr<std::optional<int>> Stop(Child& child) {
    signalfd_siginfo signal;
    if (read(signals_.get(), &signal, sizeof(signal)) != sizeof(signal)) {
      return ErrnoStatus(errno, "cannot read a signal");
    }
    Log(LogLevel::kInfo, "stops", {{"signal", signal.ssi_signo}});
    child.process().Signal(static_cast<int>(signal.ssi_signo));
    SLIPWAY_ASSIGN_OR_RETURN(const ExitStatus end, child.process().Wait());
    SLIPWAY_RETURN_IF_ERROR(Remember(AfterRanWell));
    return CodeOf(end);
  }

  absl::StatusOr<std::optional<int>> Ended(Child& child) {
    SLIPWAY_ASSIGN_OR_RETURN(const ExitStatus end, child.process().Wait());
    // A trial that has reported, and takes another offer at once.
    if (end.signal == 0 && end.exit_code == kTakeOffer && !is_trial_) return std::optional<int>();
    if (is_trial_) return Failed(absl::StrCat("ended before it had reported: ", end.ToString()));
    if (end.ok()) return CodeOf(end);
    Log(LogLevel::kError, "the agent ended", {{"how", end.ToString()}});
    return std::optional<int>();
  }

  absl::StatusOr<std::optional<int>> Failed(const std::string& why) {
    Log(LogLevel::kError, "the agent that was tried is given up", {{"why", why}});
    SLIPWAY_RETURN_IF_ERROR(Remember(
        [&why](agent::UpdateState state) { return AfterTrialFailed(std::move(state), why); }));
    return std::optional<int>();
  }

  absl::Status Remember(absl::FunctionRef<agent::UpdateState(agent::UpdateState)> change) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(state_, folder_.Change(change), "--state-dir");
    return absl::OkStatus();
  }

  static std::optional<int> CodeOf(const ExitStatus& end) {
    return end.signal == 0 ? end.exit_code : 128 + end.signal;
  }

  const SupervisorOptions& options_;
  const UpdateFolder folder_;
  const Digest installed_;
  const UniqueFd signals_;
  const SystemClock clock_;
  int ready_fd_;
  agent::UpdateState state_;
  bool is_trial_ = false;
};

}  // namespace

absl::StatusOr<std::optional<int>> Supervise(const SupervisorOptions& options) {
  const UpdateFolder folder(options.state_dir);
  const std::optional<agent::UpdateState> state = folder.Load();
  if (!state.has_value() || (!state->has_trial() && !state->has_current())) {
    return std::optional<int>();
  }
  SLIPWAY_ASSIGN_OR_RETURN_WITH(
      const FileLock lock,
      FileLock::TryAcquire(folder.lock_path(), absl::StrCat("pid ", getpid()),
                           FileLock::kTimeToLetGo),
      "another agent uses this state folder; give each one its own --state-dir");
  SLIPWAY_ASSIGN_OR_RETURN(const Digest installed, OwnBinary());
  // It starts children by threads, and so does whoever follows its parent.
  SLIPWAY_RETURN_IF_ERROR(FollowParent());
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  UniqueFd signal_fd(signalfd(-1, &signals, SFD_CLOEXEC));
  if (!signal_fd.is_open()) return ErrnoStatus(errno, "cannot make a signalfd");
  const absl::StatusOr<std::optional<int>> end =
      Supervisor(options, installed, std::move(signal_fd)).Run();
  if (!end.ok() || end->has_value()) return end;
  return ExecuteAgain(options.argv);
}

absl::Status ExecuteAgain(const std::vector<std::string>& argv) {
  std::vector<char*> pointers;
  for (const std::string& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  PassLifelineOn();
  execv(kOwnExecutable, pointers.data());
  return ErrnoStatus(errno, "cannot execute the installed agent again");
}

int RunKeptMain(int argc, char** argv) {
  if (argc < 2) return 2;
  const pid_t parent = getppid();
  // It stays through the exec.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return 1;
  execv(argv[1], argv + 1);
  const std::string why =
      absl::StrCat("slipway-agent: ", ErrnoStatus(errno, argv[1]).message(), "\n");
  (void)!write(STDERR_FILENO, why.data(), why.size());
  return 126;
}

bool IsSupervised() { return getenv(kReportedVariable) != nullptr; }

void TellReported() {
  const char* const text = getenv(kReportedVariable);
  int fd = -1;
  if (text == nullptr || !absl::SimpleAtoi(text, &fd) || fd <= STDERR_FILENO) return;
  if (write(fd, "r", 1) != 1) {
    Log(LogLevel::kWarning, "the supervisor does not listen", {{"errno", errno}});
  }
  close(fd);
}

}  // namespace slipway
