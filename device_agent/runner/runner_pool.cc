#include "device_agent/runner/runner_pool.h"

namespace slipway {

absl::StatusOr<std::unique_ptr<RunnerProcess>> RunnerPool::Take() {
  std::unique_ptr<RunnerProcess> spare;
  {
    absl::MutexLock lock(&mutex_);
    spare = std::move(spare_);
  }
  if (spare != nullptr && !spare->HasEnded() && !spare->IsStopped()) return spare;
  return RunnerProcess::Start(options_);
}

void RunnerPool::Refill() {
  absl::MutexLock lock(&mutex_);
  if (spare_ != nullptr && !spare_->HasEnded()) return;
  absl::StatusOr<std::unique_ptr<RunnerProcess>> spare = RunnerProcess::Start(options_);
  spare_ = spare.ok() ? *std::move(spare) : nullptr;
}

}  // namespace slipway
