#include "device_agent/runner/runner_process.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>

#include "absl/strings/str_cat.h"
#include "core/base/out_of_memory.h"
#include "core/base/status_macros.h"
#include "device_agent/runner/frame.h"
#include "device_agent/runner/runner_main.h"

namespace slipway {
namespace {

// A process whose connection is closed is about to end; one that is not is killed.
constexpr absl::Duration kTimeToEnd = absl::Seconds(2);

}  // namespace

absl::StatusOr<std::unique_ptr<RunnerProcess>> RunnerProcess::Start(const RunnerOptions& options) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return ErrnoStatus(errno, "cannot make a pair of sockets");
  }
  UniqueFd ours(sockets[0]);
  const UniqueFd theirs(sockets[1]);
  SubprocessOptions child;
  child.argv = {options.executable, kRunnerCommand, options.cache_folder};
  child.fds = {{kRunnerSocket, theirs.get()}};
  child.stdout_stream = ChildStream::Tail();
  child.stderr_stream = ChildStream::Tail();
  child.limits.address_space_bytes = options.memory_bytes;
  child.follow_parent = true;
  SLIPWAY_ASSIGN_OR_RETURN_WITH(std::unique_ptr<Subprocess> process, Subprocess::Start(child),
                                "cannot start a runner");
  return std::unique_ptr<RunnerProcess>(new RunnerProcess(std::move(process), std::move(ours)));
}

absl::Status RunnerProcess::Died() {
  absl::StatusOr<ExitStatus> end = process_->Wait(kTimeToEnd);
  if (!end.ok()) {
    process_->Kill();
    end = process_->Wait();
  }
  if (!end.ok()) return end.status();
  exit_status_ = *end;
  if (EndedOutOfMemory(*end, process_->OutputTail())) {
    return absl::ResourceExhaustedError("the runner ended: it has no memory left");
  }
  if (end->signal == SIGKILL && OutOfMemoryKills() > kills_before_) {
    return absl::ResourceExhaustedError("the system killed the runner for want of memory");
  }
  return absl::AbortedError(absl::StrCat("the runner ended: ", end->ToString()));
}

absl::StatusOr<runner::Response> RunnerProcess::Ask(const runner::Request& request,
                                                    absl::Time deadline) {
  kills_before_ = OutOfMemoryKills();
  runner::Response response;
  absl::Status status = WriteFrame(socket_.get(), request, deadline);
  if (status.ok()) status = ReadFrame(socket_.get(), response, deadline);
  if (absl::IsUnavailable(status)) return Died();
  if (!status.ok()) {
    process_->Kill();
    return status;
  }
  if (response.code() != 0) {
    return absl::Status(static_cast<absl::StatusCode>(response.code()), response.message());
  }
  return response;
}

void RunnerProcess::Kill() { process_->Kill(); }

}  // namespace slipway
