#include "device_agent/runner/runner_process.h"

#include <errno.h>
#include <linux/sockios.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "absl/strings/str_cat.h"
#include "core/base/out_of_memory.h"
#include "core/base/status_macros.h"
#include "device_agent/accelerators/accelerator_environment.h"
#include "device_agent/attached/link_arguments.h"
#include "device_agent/runner/frame.h"
#include "device_agent/runner/runner_commands.h"

namespace slipway {
namespace {

// A process whose connection is closed is about to end; one that is not is killed.
constexpr absl::Duration kTimeToEnd = absl::Seconds(2);
// What a runner may have to read when it is sent more; a socket holds more.
constexpr int kMaxUnreadBytes = 64 << 10;

SubprocessOptions RunnerHere(const RunnerOptions& options) {
  SubprocessOptions child;
  child.argv = {options.executable, kRunnerCommand, options.cache_folder, options.log_level,
                options.require_confinement ? kConfinedWholly : kConfinedAsCan};
  // Nothing that the agent was told is for programs.
  child.inherit_environment = false;
  if (!options.accelerator_folder.empty()) {
    child.argv.push_back(options.accelerator_folder);
    child.argv.push_back(options.vendor_libraries);
    child.environment = AcceleratorEnvironment();
  }
  (options.limits_data_alone ? child.limits.data_bytes : child.limits.address_space_bytes) =
      options.memory_bytes;
  child.waits_for_limits = true;
  return child;
}

SubprocessOptions LinkTo(const AttachedDevice& device, const RunnerOptions& options) {
  SubprocessOptions child;
  child.argv = ToWords({.device = device,
                        .cache_folder = options.cache_folder,
                        .log_level = options.log_level,
                        .require_confinement = options.require_confinement,
                        .memory_bytes = options.memory_bytes.value_or(0)});
  child.argv.insert(child.argv.begin(), {options.executable, kLinkCommand});
  return child;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunnerProcess>> RunnerProcess::Start(const RunnerOptions& options) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return ErrnoStatus(errno, "cannot make a pair of sockets");
  }
  UniqueFd ours(sockets[0]);
  const UniqueFd theirs(sockets[1]);
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<RunnerWindow> window, RunnerWindow::Create());
  SubprocessOptions child =
      options.attached.has_value() ? LinkTo(*options.attached, options) : RunnerHere(options);
  child.fds = {{kRunnerSocket, theirs.get()}, {kRunnerWindow, window->fd()}};
  child.stdout_stream = ChildStream::Tail();
  child.stderr_stream = ChildStream::Tail();
  SLIPWAY_ASSIGN_OR_RETURN_WITH(std::unique_ptr<Subprocess> process, Subprocess::Start(child),
                                "cannot start a runner");
  return std::unique_ptr<RunnerProcess>(
      new RunnerProcess(std::move(process), std::move(ours), std::move(window),
                        /*is_attached=*/options.attached.has_value()));
}

absl::Status RunnerProcess::Died() {
  absl::StatusOr<ExitStatus> end = process_->Wait(kTimeToEnd);
  if (!end.ok()) {
    process_->Kill();
    end = process_->Wait();
  }
  if (!end.ok()) return end.status();
  exit_status_ = *end;
  if (const auto why = static_cast<absl::StatusCode>(window_->status().lost.load());
      is_attached_ && why != absl::StatusCode::kOk) {
    return absl::Status(
        why, absl::StrCat("the attached device is lost", LastLine(process_->OutputTail())));
  }
  if (EndedOutOfMemory(*end, process_->OutputTail())) {
    return absl::ResourceExhaustedError("the runner ended: it has no memory left");
  }
  if (!is_attached_ && end->signal == SIGKILL && OutOfMemoryKills() > kills_before_) {
    return absl::ResourceExhaustedError("the system killed the runner for want of memory");
  }
  return absl::AbortedError(absl::StrCat("the runner ended: ", end->ToString()));
}

absl::Status RunnerProcess::Write(const runner::Request& request, absl::Duration deadline) {
  if (request_id_.empty()) return WriteFrame(socket_.get(), request, deadline);
  runner::Request named = request;
  named.set_request_id(std::exchange(request_id_, ""));
  return WriteFrame(socket_.get(), named, deadline);
}

absl::StatusOr<runner::Response> RunnerProcess::Ask(const runner::Request& request,
                                                    absl::Duration deadline) {
  kills_before_ = OutOfMemoryKills();
  const absl::Status status = Write(request, deadline);
  if (absl::IsUnavailable(status)) return Died();
  if (!status.ok()) {
    process_->Kill();
    return status;
  }
  SLIPWAY_ASSIGN_OR_RETURN(runner::Response response, Receive(deadline));
  if (response.result().code() != 0) {
    return absl::Status(static_cast<absl::StatusCode>(response.result().code()),
                        response.result().message());
  }
  return response;
}

absl::Status RunnerProcess::Send(const runner::Request& request) {
  int unread = 0;
  if (ioctl(socket_.get(), SIOCOUTQ, &unread) != 0) {
    return ErrnoStatus(errno, "cannot ask what a runner has to read");
  }
  if (unread > kMaxUnreadBytes) {
    return absl::ResourceExhaustedError("the runner has enough to read");
  }
  // There is room, but for a frame so large that waiting for it is right.
  return Write(request, absl::InfiniteDuration());
}

absl::StatusOr<runner::Response> RunnerProcess::Receive(absl::Duration deadline) {
  runner::Response response;
  const absl::Status status = reader_.Read(response, deadline);
  if (absl::IsUnavailable(status)) return Died();
  if (!status.ok()) {
    process_->Kill();
    return status;
  }
  return response;
}

bool RunnerProcess::IsStopped() const {
  const absl::StatusOr<std::string> stat =
      ReadFile(absl::StrCat("/proc/", process_->pid(), "/stat"), 4096);
  // "123 (a name) T ...", where the name may hold anything.
  if (!stat.ok()) return false;
  const size_t end = stat->rfind(") ");
  return end != std::string::npos && end + 2 < stat->size() && (*stat)[end + 2] == 'T';
}

void RunnerProcess::Kill() { process_->Kill(); }

}  // namespace slipway
