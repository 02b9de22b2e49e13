// Steps of calls that somebody watches: profiled, cancelled in between.
#include <time.h>

#include "absl/status/status.h"
#include "core/base/status_macros.h"
#include "core/runtime/interpreter.h"

namespace slipway {
namespace {

int64_t MonotonicNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

absl::Status Interpreter::RunWatchedStep(const FunctionPlan& function, const StepPlan& step) {
  if (call_->cancelled != nullptr && call_->cancelled->load(std::memory_order_relaxed)) {
    return absl::CancelledError("cancelled before it began");
  }
  const int64_t begin = call_->profile ? MonotonicNanoseconds() : 0;
  SLIPWAY_RETURN_IF_ERROR(QueueStep(function, step));
  if (call_->profile) {
    SLIPWAY_RETURN_IF_ERROR(queues_[step.device]->Finish());
    durations_ns_[step.number] += MonotonicNanoseconds() - begin;
    ++runs_[step.number];
  }
  Release(step);
  return absl::OkStatus();
}

}  // namespace slipway
