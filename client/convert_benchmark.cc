// Benchmarks: what is asked for, and what came of it.
#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "client/convert.h"

namespace slipway {
namespace {

constexpr ScenarioKind kKinds[] = {ScenarioKind::kSingleStream, ScenarioKind::kMultiStream,
                                   ScenarioKind::kOffline, ScenarioKind::kServer};

v1::Scenario::Kind ToProto(ScenarioKind kind) {
  switch (kind) {
    case ScenarioKind::kSingleStream:
      return v1::Scenario::SINGLE_STREAM;
    case ScenarioKind::kMultiStream:
      return v1::Scenario::MULTI_STREAM;
    case ScenarioKind::kOffline:
      return v1::Scenario::OFFLINE;
    case ScenarioKind::kServer:
      break;
  }
  return v1::Scenario::SERVER;
}

std::optional<BoundVerdict> VerdictFromProto(v1::ScenarioResult::Verdict verdict) {
  switch (verdict) {
    case v1::ScenarioResult::MET:
      return BoundVerdict::kMet;
    case v1::ScenarioResult::MISSED:
      return BoundVerdict::kMissed;
    case v1::ScenarioResult::UNDECIDED:
      return BoundVerdict::kUndecided;
    default:
      return std::nullopt;
  }
}

// Of a kind that this client does not know: none.
std::optional<ScenarioResult> ScenarioFromProto(const v1::ScenarioResult& proto) {
  const v1::Scenario& scenario = proto.scenario();
  for (const ScenarioKind kind : kKinds) {
    if (ToProto(kind) != scenario.kind()) continue;
    ScenarioResult result = {
        .scenario = {.kind = kind,
                     .instances = std::max(1, scenario.instances()),
                     .calls_per_query = std::max(1, scenario.calls_per_query()),
                     .qps = static_cast<double>(scenario.qps_millis()) / 1e3,
                     .latency_bound = absl::Nanoseconds(scenario.latency_bound_ns()),
                     .percentile = static_cast<double>(scenario.percentile_ppm()) / 1e6,
                     .find_qps = scenario.find_qps()},
        .duration = absl::Nanoseconds(std::max<int64_t>(1, proto.duration_ns())),
        .calls = std::max<int64_t>(0, proto.calls()),
        .verdict = VerdictFromProto(proto.verdict())};
    // The one number of it that is computed with.
    if (!(result.scenario.percentile > 0 && result.scenario.percentile < 1)) {
      result.scenario.percentile = 0.99;
    }
    for (const v1::ScenarioResult::Trial& trial : proto.trials()) {
      result.trials.push_back(
          {.qps = static_cast<double>(trial.qps_millis()) / 1e3,
           .latency = absl::Nanoseconds(trial.latency_ns()),
           .verdict = VerdictFromProto(trial.verdict()).value_or(BoundVerdict::kUndecided)});
    }
    return result;
  }
  return std::nullopt;
}

int64_t Millis(int64_t told) { return std::clamp<int64_t>(told, 0, 1000); }

// All of the samples, or none: what does not add up is told by somebody who does not know.
std::vector<SampleStamp> StampsFromProto(const v1::BenchmarkResult& proto) {
  std::vector<SampleStamp> stamps;
  int64_t samples = 0;
  for (const v1::SampleStamp& stamp : proto.stamps()) {
    if (stamp.samples() < 1) return {};
    samples += stamp.samples();
    stamps.push_back(
        {.samples = stamp.samples(),
         .waited_millis = Millis(stamp.waited_millis()),
         .foreign_millis = Millis(stamp.foreign_millis()),
         .disturbed = stamp.disturbed(),
         .throttled = stamp.throttled(),
         .cpu_frequency_hz = std::max<int64_t>(0, stamp.cpu_frequency_hz()),
         .temperature_millicelsius = std::max<int64_t>(0, stamp.temperature_millicelsius()),
         .governor = stamp.governor()});
    for (const v1::AcceleratorState& state : stamp.accelerators()) {
      stamps.back().accelerators.push_back(AcceleratorFromProto(state));
    }
  }
  if (samples != proto.samples_ns_size()) return {};
  return stamps;
}

Settled SettledFromProto(const v1::Settled& proto) {
  return {.cooled = absl::Nanoseconds(std::max<int64_t>(0, proto.cooled_ns())),
          .is_cool = proto.is_cool(),
          .steadied = absl::Nanoseconds(std::max<int64_t>(0, proto.steadied_ns())),
          .is_steady = proto.is_steady(),
          .temperature_millicelsius = std::max(0, proto.temperature_millicelsius())};
}

std::vector<EnergyCount> EnergyFromProto(const v1::BenchmarkResult& proto) {
  std::vector<EnergyCount> energy;
  for (const v1::EnergyCount& count : proto.energy()) {
    if (count.microjoules() >= 0) energy.push_back({count.counter(), count.microjoules()});
  }
  return energy;
}

}  // namespace

v1::Scenario ToProto(const Scenario& scenario) {
  v1::Scenario proto;
  proto.set_kind(ToProto(scenario.kind));
  proto.set_instances(scenario.instances);
  proto.set_calls_per_query(scenario.calls_per_query);
  proto.set_qps_millis(std::llround(scenario.qps * 1e3));
  proto.set_latency_bound_ns(absl::ToInt64Nanoseconds(scenario.latency_bound));
  proto.set_percentile_ppm(static_cast<int32_t>(std::lround(scenario.percentile * 1e6)));
  proto.set_find_qps(scenario.find_qps);
  return proto;
}

v1::Settling ToProto(const Settling& settling) {
  v1::Settling proto;
  proto.set_cool_down_millicelsius(static_cast<int32_t>(settling.cool_down_millicelsius));
  proto.set_until_steady(settling.until_steady);
  proto.set_longest_ns(absl::ToInt64Nanoseconds(settling.longest));
  return proto;
}

absl::StatusOr<BenchmarkResult> UncheckedBenchmarkFromProto(const v1::BenchmarkResult& proto) {
  BenchmarkResult result = {
      .samples_ns = {proto.samples_ns().begin(), proto.samples_ns().end()},
      .iterations_per_sample = proto.iterations_per_sample(),
      .load_cold_ns = proto.load_cold_ns(),
      .load_warm_ns = proto.load_warm_ns(),
      .first_run_ns = proto.first_run_ns(),
      .peak_memory_bytes = proto.peak_memory_bytes(),
      .threads = proto.threads(),
      .disturbed = proto.disturbed(),
      .disturbed_millis = proto.disturbed_millis(),
      .precision_ppm =
          proto.has_precision_ppm() ? std::make_optional(proto.precision_ppm()) : std::nullopt,
      .scenario = proto.has_scenario() ? ScenarioFromProto(proto.scenario()) : std::nullopt,
      .stamps = StampsFromProto(proto),
      .settled = proto.has_settled() ? std::make_optional(SettledFromProto(proto.settled()))
                                     : std::nullopt,
      .energy = EnergyFromProto(proto),
      .energy_unknown = proto.energy_unknown(),
      .memory_before_bytes = std::max<int64_t>(0, proto.memory_before_bytes()),
      .memory_after_bytes = std::max<int64_t>(0, proto.memory_after_bytes()),
      .clock_resolution_ns = std::max<int64_t>(0, proto.clock_resolution_ns()),
      .before = MachineFromProto(proto.before()),
      .after = MachineFromProto(proto.after()),
      .steps = StepTimesFromProto(proto.steps()),
      .peaks = PeaksFromProto(proto.peaks()),
      .accelerator_peaks = AcceleratorPeaksFromProto(proto.peaks()),
      .start_time = TimeFromNs(proto.start_time_ns()),
      .timings = TimingsFromProto(proto.timings()),
      .device = proto.device(),
      .device_target = proto.device_target(),
  };
  if (result.iterations_per_sample < 1) {
    return absl::InternalError("the benchmark has samples of no calls");
  }
  for (const int64_t sample : result.samples_ns) {
    if (sample >= 1) continue;
    return absl::InternalError(
        absl::StrCat("the benchmark has a sample that took ", sample, " ns"));
  }
  return result;
}

absl::StatusOr<BenchmarkResult> BenchmarkFromProto(const v1::BenchmarkResult& proto) {
  if (proto.samples_ns().empty()) return absl::InternalError("the benchmark has no samples");
  return UncheckedBenchmarkFromProto(proto);
}

}  // namespace slipway
