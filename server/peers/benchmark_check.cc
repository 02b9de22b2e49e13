#include "server/peers/benchmark_check.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/status_macros.h"
#include "server/limits.h"

namespace slipway::server {
namespace {

absl::Status CheckAtLeast(absl::string_view what, int64_t value, int64_t least) {
  if (value >= least) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " is ", value, "; ", least, " or more wanted"));
}

absl::Status CheckSamples(const v1::BenchmarkResult& result, int64_t most_samples) {
  if (result.samples_ns().empty() || result.samples_ns_size() > most_samples) {
    return absl::InvalidArgumentError(absl::StrCat("it has ", result.samples_ns_size(),
                                                   " samples; 1 to ", most_samples, " wanted"));
  }
  const int64_t most = absl::ToInt64Nanoseconds(kMaxDeadline);
  int64_t total = 0;
  for (int i = 0; i < result.samples_ns_size(); ++i) {
    const int64_t sample = result.samples_ns(i);
    if (sample < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("sample ", i + 1, " took ", sample, " ns; 1 or more wanted"));
    }
    if (sample > most - total) {
      return absl::InvalidArgumentError(absl::StrCat("the samples up to number ", i + 1,
                                                     " took longer together than a job may, ",
                                                     absl::FormatDuration(kMaxDeadline)));
    }
    total += sample;
  }
  return absl::OkStatus();
}

absl::Status CheckStep(const v1::StepTime& step) {
  SLIPWAY_RETURN_IF_ERROR(CheckAtLeast("a step's duration_ns", step.duration_ns(), 0));
  if (step.threads_size() > kMaxToldThreads) {
    return absl::InvalidArgumentError(absl::StrCat("a step tells of ", step.threads_size(),
                                                   " threads; at most ", kMaxToldThreads));
  }
  for (const v1::ThreadWork& thread : step.threads()) {
    SLIPWAY_RETURN_IF_ERROR(CheckAtLeast("a thread's begin_ns", thread.begin_ns(), 0));
    SLIPWAY_RETURN_IF_ERROR(CheckAtLeast("a thread's end_ns", thread.end_ns(), thread.begin_ns()));
    SLIPWAY_RETURN_IF_ERROR(CheckAtLeast("a thread's busy_ns", thread.busy_ns(), 0));
    SLIPWAY_RETURN_IF_ERROR(CheckAtLeast("a thread's tasks", thread.tasks(), 0));
  }
  return absl::OkStatus();
}

constexpr int kMaxToldAccelerators = 64;
constexpr size_t kMaxAcceleratorNameBytes = 256;

absl::Status CheckAccelerators(
    absl::string_view when,
    const google::protobuf::RepeatedPtrField<v1::AcceleratorState>& accelerators) {
  if (accelerators.size() > kMaxToldAccelerators) {
    return absl::InvalidArgumentError(absl::StrCat(
        when, " tells of ", accelerators.size(), " accelerators; at most ", kMaxToldAccelerators));
  }
  for (const v1::AcceleratorState& state : accelerators) {
    if (state.name().size() > kMaxAcceleratorNameBytes) {
      return absl::InvalidArgumentError(absl::StrCat(when, ": an accelerator's name has ",
                                                     state.name().size(), " bytes; at most ",
                                                     kMaxAcceleratorNameBytes));
    }
    for (const int64_t value : {state.clock_hz(), state.memory_clock_hz(), state.power_milliwatts(),
                                state.memory_free_bytes()}) {
      SLIPWAY_RETURN_IF_ERROR(CheckAtLeast(absl::StrCat(when, ".accelerators"), value, 0));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMachine(absl::string_view when, const v1::MachineState& machine) {
  SLIPWAY_RETURN_IF_ERROR(
      CheckAtLeast(absl::StrCat(when, ".cpu_frequency_hz"), machine.cpu_frequency_hz(), 0));
  SLIPWAY_RETURN_IF_ERROR(CheckAccelerators(when, machine.accelerators()));
  return CheckAtLeast(absl::StrCat(when, ".load_millis"), machine.load_millis(), 0);
}

}  // namespace

absl::Status CheckBenchmark(const v1::BenchmarkResult& result, int64_t most_samples) {
  SLIPWAY_RETURN_IF_ERROR(CheckSamples(result, most_samples));
  SLIPWAY_RETURN_IF_ERROR(CheckMachine("before", result.before()));
  SLIPWAY_RETURN_IF_ERROR(CheckMachine("after", result.after()));
  for (const v1::SampleStamp& stamp : result.stamps()) {
    SLIPWAY_RETURN_IF_ERROR(CheckAccelerators("a stamp", stamp.accelerators()));
  }
  const struct {
    absl::string_view what;
    int64_t value;
    int64_t least = 0;
  } numbers[] = {
      {"iterations_per_sample", result.iterations_per_sample(), 1},
      {"load_cold_ns", result.load_cold_ns()},
      {"load_warm_ns", result.load_warm_ns()},
      {"first_run_ns", result.first_run_ns()},
      {"peak_memory_bytes", result.peak_memory_bytes()},
      {"clock_resolution_ns", result.clock_resolution_ns()},
      {"threads", result.threads()},
      {"disturbed_millis", result.disturbed_millis()},
      {"start_time_ns", result.start_time_ns()},
      {"precision_ppm", result.precision_ppm(), -1},
      {"timings.fetch_ns", result.timings().fetch_ns()},
      {"timings.spawn_ns", result.timings().spawn_ns()},
      {"timings.load_ns", result.timings().load_ns()},
      {"timings.run_ns", result.timings().run_ns()},
      {"timings.upload_ns", result.timings().upload_ns()},
  };
  for (const auto& [what, value, least] : numbers) {
    SLIPWAY_RETURN_IF_ERROR(CheckAtLeast(what, value, least));
  }
  for (const v1::StepTime& step : result.steps()) SLIPWAY_RETURN_IF_ERROR(CheckStep(step));
  return absl::OkStatus();
}

}  // namespace slipway::server
