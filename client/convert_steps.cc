// Steps of programs as they were timed, and what devices do at most.
#include <algorithm>
#include <optional>
#include <vector>

#include "client/convert.h"
#include "core/wire/peaks_proto.h"
#include "core/wire/precision_proto.h"

namespace slipway {
namespace {

// What cannot be counts as not told.
std::optional<StepWork> WorkFromProto(const v1::StepTime& step) {
  if (!step.has_flops() || !step.has_bytes() || !step.has_constant_bytes()) return std::nullopt;
  if (step.flops() < 0 || step.constant_bytes() < 0 || step.bytes() < step.constant_bytes()) {
    return std::nullopt;
  }
  return StepWork{step.flops(), step.bytes(), step.constant_bytes(),
                  static_cast<DataType>(step.product_type()),
                  FromProto(step.product_precision()).value_or(Precision::kFloat32)};
}

CopiedBetween CopiedFromProto(v1::StepTime::Copied copied) {
  return copied == v1::StepTime::FROM_HOST ? CopiedBetween::kFromHost
         : copied == v1::StepTime::TO_HOST ? CopiedBetween::kToHost
                                           : CopiedBetween::kNone;
}

// A thread whose times cannot be is one without tasks.
std::vector<ThreadWork> ThreadsFromProto(const v1::StepTime& step) {
  std::vector<ThreadWork> threads;
  for (const v1::ThreadWork& thread : step.threads()) {
    const bool can_be = thread.tasks() > 0 && thread.begin_ns() >= 0 &&
                        thread.end_ns() >= thread.begin_ns() &&
                        thread.end_ns() <= step.duration_ns() && thread.busy_ns() >= 0 &&
                        thread.busy_ns() <= thread.end_ns() - thread.begin_ns();
    threads.push_back(
        can_be ? ThreadWork{thread.begin_ns(), thread.end_ns(), thread.busy_ns(), thread.tasks()}
               : ThreadWork());
  }
  return threads;
}

}  // namespace

std::vector<StepTime> StepTimesFromProto(
    const google::protobuf::RepeatedPtrField<v1::StepTime>& protos) {
  std::vector<StepTime> steps;
  for (const v1::StepTime& step : protos) {
    steps.push_back({.name = step.name(),
                     .operators = {step.operators().begin(), step.operators().end()},
                     .duration_ns = step.duration_ns(),
                     .work = WorkFromProto(step),
                     .threads = ThreadsFromProto(step),
                     .device = std::max(0, step.device()),
                     .copied = CopiedFromProto(step.copied()),
                     .library = step.library()});
  }
  return steps;
}

std::vector<MachinePeaks> PeaksFromProto(const v1::DevicePeaks& proto) {
  return FromProto(proto).value_or(std::vector<MachinePeaks>());
}

std::vector<AcceleratorPeaks> AcceleratorPeaksFromProto(const v1::DevicePeaks& proto) {
  return AcceleratorsFromProto(proto).value_or(std::vector<AcceleratorPeaks>());
}

}  // namespace slipway
