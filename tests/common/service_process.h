// ServiceProcess: a program that serves until it is ended, and says when it is ready.
#ifndef SLIPWAY_TESTS_COMMON_SERVICE_PROCESS_H_
#define SLIPWAY_TESTS_COMMON_SERVICE_PROCESS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/subprocess.h"

namespace slipway::testing {

// Not thread-safe.
class ServiceProcess {
 public:
  struct Options {
    std::string name;               // For messages.
    std::vector<std::string> argv;  // "--ready-fd=3" is added.
    std::vector<std::pair<std::string, std::string>> environment;
    std::string log_file;  // stdout and stderr are appended to it.
    ResourceLimits limits;
    absl::Duration ready_within = absl::Seconds(30);
  };

  explicit ServiceProcess(Options options) : options_(std::move(options)) {}

  // Starts it and waits until it is ready; what it wrote to the descriptor is in ready_line(). The error
  // of one that ended before carries the end of its log. REQUIRES: it is not running.
  absl::Status Start();
  // The same without waiting.
  absl::Status Launch();
  // SIGKILL; returns when it has ended.
  void Kill();
  // SIGSTOP; returns when all of its threads are stopped, which the signal alone does not wait for.
  absl::Status Suspend();
  void Resume();
  // SIGTERM; its end. DEADLINE_EXCEEDED, and it is killed, when that does not come in time.
  absl::StatusOr<ExitStatus> Stop(absl::Duration timeout = absl::Seconds(20));

  bool is_running() const { return process_ != nullptr && !process_->Poll().has_value(); }
  // REQUIRES: it was started and not killed or stopped.
  pid_t pid() const { return process_->pid(); }
  const std::string& ready_line() const { return ready_line_; }
  Options& options() { return options_; }
  // All that it has printed so far, in all its starts.
  std::string Log() const;

 private:
  absl::Status AwaitReady();

  Options options_;
  std::unique_ptr<Subprocess> process_;
  UniqueFd ready_;
  std::string ready_line_;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_COMMON_SERVICE_PROCESS_H_
