// Steps of calls that somebody watches: profiled, cancelled in between.
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"
#include "core/runtime/interpreter.h"
#include "core/runtime/step_timing.h"

namespace slipway {
namespace {

int64_t NowNs() { return absl::ToInt64Nanoseconds(SystemClock().Monotonic()); }

}  // namespace

absl::Status Interpreter::RunWatchedStep(const FunctionPlan& function, const StepPlan& step) {
  if (call_->cancelled != nullptr && call_->cancelled->load(std::memory_order_relaxed)) {
    return absl::CancelledError("cancelled before it began");
  }
  SLIPWAY_RETURN_IF_ERROR(call_->profile ? ProfileStep(function, step) : QueueStep(function, step));
  Release(step);
  return absl::OkStatus();
}

absl::Status Interpreter::ProfileStep(const FunctionPlan& function, const StepPlan& step) {
  StepTiming& timing = timings_[step.number];
  DeviceQueues& queues = *queues_[step.device];
  const std::optional<int64_t> worked = queues.worked_ns();
  const int64_t begin = NowNs();
  const ThreadRecording recording = {begin - timing.duration_ns, absl::MakeSpan(timing.threads)};
  // Other steps have steps of their own in them.
  const bool is_recorded = step.proto->has_kernel() && !timing.threads.empty();
  if (is_recorded) queues.SetRecording(&recording);
  absl::Status status = QueueStep(function, step);
  status.Update(queues.Finish());
  if (is_recorded) queues.SetRecording(nullptr);
  timing.duration_ns += worked.has_value() && step.proto->has_kernel()
                            ? *queues.worked_ns() - *worked
                            : NowNs() - begin;
  ++timing.runs;
  return status;
}

}  // namespace slipway
