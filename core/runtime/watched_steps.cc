// Steps of calls that somebody watches: profiled, told to an observer, cancelled in between.
#include <time.h>

#include <string>

#include "absl/status/status.h"
#include "core/artifact/program_steps.h"
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
  if (call_->profile || call_->observer != nullptr) {
    SLIPWAY_RETURN_IF_ERROR(queues_[step.device]->Finish());
  }
  if (call_->profile) durations_ns_[step.number] += MonotonicNanoseconds() - begin;
  if (call_->observer != nullptr) SLIPWAY_RETURN_IF_ERROR(Tell(step));
  Release(step);
  return absl::OkStatus();
}

absl::Status Interpreter::Tell(const StepPlan& step) {
  step_values_.clear();
  step_bytes_.clear();
  const std::vector<uint32_t> written = ValuesWrittenBy(*step.proto);
  step_bytes_.reserve(written.size());
  for (const uint32_t value : written) SLIPWAY_RETURN_IF_ERROR(AddStepValues(value));
  return (*call_->observer)({step.number, turns_, step_values_});
}

absl::Status Interpreter::AddStepValues(uint32_t value) {
  StepValue told{"", value, values_.dtype(value), values_.extents(value), ""};
  const int64_t bytes = values_.bytes(value);
  const DeviceMemory memory = values_.memory(value);
  if (memory.host != nullptr || bytes == 0) {
    told.bytes = {reinterpret_cast<const char*>(memory.host), static_cast<size_t>(bytes)};
  } else {
    ComputeDevice& device = *program_.place_of_space(space_of(value)).device;
    std::string& copy = step_bytes_.emplace_back(static_cast<size_t>(bytes), '\0');
    SLIPWAY_RETURN_IF_ERROR(device.Copy(
        {&device, memory}, {nullptr, {0, reinterpret_cast<uint8_t*>(copy.data()), bytes}}, bytes));
    told.bytes = copy;
  }
  const size_t first = step_values_.size();
  const ProgramPlan& plan = program_.plan();
  const FunctionPlan& called = plan.functions[plan.entries[static_cast<size_t>(call_->entry)]];
  for (const v1::Binding& output : called.proto->outputs()) {
    if (output.value() != value) continue;
    told.name = output.name();
    step_values_.push_back(told);
  }
  if (step_values_.size() == first) step_values_.push_back(told);
  return absl::OkStatus();
}

}  // namespace slipway
