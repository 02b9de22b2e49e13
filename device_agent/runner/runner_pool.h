// RunnerPool: a runner that is ready before it is needed.
#ifndef SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_POOL_H_
#define SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_POOL_H_

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "device_agent/runner/runner_process.h"

namespace slipway {

// Keeps one spare. A runner serves one attempt and is not given back: nothing a program left behind
// reaches the next. Thread-safe.
class RunnerPool {
 public:
  explicit RunnerPool(RunnerOptions options) : options_(std::move(options)) {}

  // The runners are on another machine.
  bool is_attached() const { return options_.attached.has_value(); }

  // The spare if there is one and it lives, else a new one. Errors of RunnerProcess::Start.
  absl::StatusOr<std::unique_ptr<RunnerProcess>> Take();

  // Starts the spare. Not called by Take, since starting a process would disturb what the taken one
  // is about to measure. A failure shows in the next Take.
  void Refill();

 private:
  const RunnerOptions options_;
  absl::Mutex mutex_;
  std::unique_ptr<RunnerProcess> spare_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_POOL_H_
