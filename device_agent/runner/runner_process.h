// RunnerProcess: a runner as its agent sees it.
#ifndef SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_PROCESS_H_
#define SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_PROCESS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/files.h"
#include "core/base/out_of_memory.h"
#include "core/base/subprocess.h"
#include "device_agent/attached/attached_device.h"
#include "device_agent/runner/frame.h"
#include "device_agent/runner/runner.pb.h"
#include "device_agent/runner/runner_window.h"

namespace slipway {

struct RunnerOptions {
  // The agent's executable.
  std::string executable = kOwnExecutable;
  // Folder of the FileBlobStore that agent and runner share.
  std::string cache_folder;
  // Address space a runner may use; unset: no limit.
  std::optional<int64_t> memory_bytes;
  // From which level on it logs, as core/base/log.h names levels. What it writes is for whoever has it work, beside what
  // programs write: by default warnings and errors.
  std::string log_level = "warning";
  // Where vendors' libraries of accelerators may write; empty: it uses none, and may load none.
  std::string accelerator_folder = {};
  // When these make products in place of programs' own code, as FindLibraryUse has it.
  std::string vendor_libraries = "measured";
  // Whether `memory_bytes` bounds what the process may write to, in place of all its addresses: a library of CUDA takes more of these than any
  // machine has memory.
  bool limits_data_alone = false;
  // It ends, before it does anything, where a part of its confinement is missing.
  bool require_confinement = false;
  // Programs run on another machine, attached to this one: the runner becomes one of it (attached/link_main.h).
  std::optional<AttachedDevice> attached;
};

// A child process that executes programs. One thread may Send while one Receives; Ask is both. Kill may be called from
// any.
class RunnerProcess {
 public:
  // Returns before the child is ready: the first request waits for it. Errors of Subprocess::Start.
  static absl::StatusOr<std::unique_ptr<RunnerProcess>> Start(const RunnerOptions& options);

  // For whose request (RunAssignment.request_id) it works, for its log. To be called before anything is sent.
  void WorkFor(std::string request_id) { request_id_ = std::move(request_id); }

  // Sends a request and waits for what came of it, until `deadline` of Clock::Monotonic. The request's own failure is the
  // status.
  // DEADLINE_EXCEEDED: it was not done in time; the runner has been killed. ABORTED: the runner
  // died, with how ("killed by signal 11 (SIGSEGV)"); RESOURCE_EXHAUSTED: it died for want of memory; UNAVAILABLE: the device that
  // is attached cannot be reached; errors of StartOnDevice. After any of these, no request succeeds.
  absl::StatusOr<runner::Response> Ask(const runner::Request& request, absl::Duration deadline);

  // The two halves of Ask, for requests that are sent before the one before them is answered. Send does not wait for
  // room: RESOURCE_EXHAUSTED, and nothing was sent, while the runner has kMaxUnreadBytes to read.
  absl::Status Send(const runner::Request& request);
  absl::StatusOr<runner::Response> Receive(absl::Duration deadline);
  // Readable when Receive would not wait, unless has_received().
  int socket() const { return socket_.get(); }
  bool has_received() const { return reader_.HasFrame(); }

  // Memory shared with it.
  const std::shared_ptr<RunnerWindow>& window() const { return window_; }

  // Thread-safe. A request under way ends with ABORTED.
  void Kill();

  // The last it wrote to stdout and stderr.
  std::string log_tail() const { return process_->OutputTail(); }
  // Who is told all that it writes there, and that what it has written by now is told; see Subprocess.
  void FollowLog(std::function<void(absl::string_view)> take) {
    process_->FollowOutput(std::move(take));
  }
  void ReadLog() { process_->ReadOutputNow(); }
  // How it died, once Ask has said that it did.
  const std::optional<ExitStatus>& exit_status() const { return exit_status_; }
  // Whether somebody has stopped it by a signal (SIGSTOP), so that it goes on when it gets another.
  bool IsStopped() const;
  // Whether it has ended by itself.
  bool HasEnded() const { return process_->Poll().has_value(); }

 private:
  RunnerProcess(std::unique_ptr<Subprocess> process, UniqueFd socket,
                std::shared_ptr<RunnerWindow> window, bool is_attached)
      : is_attached_(is_attached),
        process_(std::move(process)),
        socket_(std::move(socket)),
        window_(std::move(window)),
        reader_(socket_.get()),
        kills_before_(OutOfMemoryKills()) {}
  absl::Status Died();
  // The first one says for whose request it is.
  absl::Status Write(const runner::Request& request, absl::Duration deadline);

  const bool is_attached_;  // Programs run elsewhere.
  const std::unique_ptr<Subprocess> process_;
  const UniqueFd socket_;
  const std::shared_ptr<RunnerWindow> window_;
  FrameReader reader_;
  std::string request_id_;  // That it is still to be told.
  std::optional<ExitStatus> exit_status_;
  int64_t kills_before_;  // OutOfMemoryKills, when it was started, or last asked.
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_PROCESS_H_
