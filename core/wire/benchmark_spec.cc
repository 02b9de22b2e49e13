#include "core/wire/benchmark_spec.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr int kMaxThreadsTogether = 1'024;
constexpr int kDefaultSamples = 100;
constexpr int kDefaultCallsPerQuery = 8;
constexpr int kDefaultPercentilePpm = 990'000;
constexpr int64_t kHourNs = 3'600'000'000'000;
// No deadline of a job is longer.
constexpr int64_t kLongestMillis = 24 * 3'600'000;

absl::Status InRange(absl::string_view what, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " is ", value, "; ", least, " to ", most, " wanted"));
}

absl::Status OnlyFor(absl::string_view kind, absl::string_view what, bool is_set) {
  if (!is_set) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " is for the scenario ", kind, " alone"));
}

absl::Status CheckServer(const v1::Scenario& scenario, int samples) {
  SLIPWAY_RETURN_IF_ERROR(
      InRange("qps_millis", scenario.qps_millis(), scenario.find_qps() ? 0 : 1, kMaxQpsMillis));
  SLIPWAY_RETURN_IF_ERROR(InRange("latency_bound_ns", scenario.latency_bound_ns(),
                                  scenario.find_qps() ? 1 : 0, kHourNs));
  SLIPWAY_RETURN_IF_ERROR(InRange("percentile_ppm", scenario.percentile_ppm(), 0, 999'999));
  const int64_t queries = samples == 0 ? kDefaultSamples : samples;
  if (scenario.qps_millis() == 0 || queries * 1'000'000 / scenario.qps_millis() <= kLongestMillis) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(queries, " queries at qps_millis ", scenario.qps_millis(),
                   " take more than 24 hours: ask for fewer samples, or a higher rate"));
}

absl::Status CheckScenario(const v1::Scenario& scenario, int threads, int samples) {
  const v1::Scenario::Kind kind = scenario.kind();
  if (kind == v1::Scenario::KIND_UNSPECIFIED || !v1::Scenario::Kind_IsValid(kind)) {
    return absl::InvalidArgumentError(absl::StrCat("scenario ", kind, " is unknown"));
  }
  SLIPWAY_RETURN_IF_ERROR(InRange("instances", scenario.instances(), 0, kMaxInstances));
  if (kind == v1::Scenario::SINGLE_STREAM && scenario.instances() > 1) {
    return absl::InvalidArgumentError("the scenario SINGLE_STREAM has one instance");
  }
  if (int64_t{scenario.instances()} * std::max(1, threads) > kMaxThreadsTogether) {
    return absl::InvalidArgumentError(
        absl::StrCat(scenario.instances(), " instances of ", threads, " threads are more than the ",
                     kMaxThreadsTogether, " threads there may be together"));
  }
  SLIPWAY_RETURN_IF_ERROR(
      InRange("calls_per_query", scenario.calls_per_query(), 0, kMaxCallsPerQuery));
  if (kind != v1::Scenario::MULTI_STREAM) {
    SLIPWAY_RETURN_IF_ERROR(
        OnlyFor("MULTI_STREAM", "calls_per_query", scenario.calls_per_query() != 0));
  }
  if (kind == v1::Scenario::SERVER) return CheckServer(scenario, samples);
  SLIPWAY_RETURN_IF_ERROR(OnlyFor("SERVER", "qps_millis", scenario.qps_millis() != 0));
  SLIPWAY_RETURN_IF_ERROR(OnlyFor("SERVER", "latency_bound_ns", scenario.latency_bound_ns() != 0));
  SLIPWAY_RETURN_IF_ERROR(OnlyFor("SERVER", "percentile_ppm", scenario.percentile_ppm() != 0));
  return OnlyFor("SERVER", "find_qps", scenario.find_qps());
}

}  // namespace

absl::Status CheckBenchmarkSpec(const v1::BenchmarkSpec& spec) {
  SLIPWAY_RETURN_IF_ERROR(InRange("warmup", spec.warmup(), -1, kMaxSamples));
  SLIPWAY_RETURN_IF_ERROR(InRange("samples", spec.samples(), 0, kMaxSamples));
  SLIPWAY_RETURN_IF_ERROR(
      InRange("precision_goal_ppm", spec.precision_goal_ppm(), 0, kMaxPrecisionGoalPpm));
  if (spec.has_settling()) {
    SLIPWAY_RETURN_IF_ERROR(
        InRange("cool_down_millicelsius", spec.settling().cool_down_millicelsius(), 0, 1'000'000));
    SLIPWAY_RETURN_IF_ERROR(
        InRange("settling.longest_ns", spec.settling().longest_ns(), 0, kHourNs));
  }
  if (!spec.has_scenario()) return absl::OkStatus();
  const v1::Scenario::Kind kind = spec.scenario().kind();
  if (spec.precision_goal_ppm() > 0 &&
      (kind == v1::Scenario::OFFLINE || kind == v1::Scenario::SERVER)) {
    return absl::InvalidArgumentError(
        "precision_goal_ppm is for calls that follow each other, not for this scenario");
  }
  return CheckScenario(spec.scenario(), spec.run().threads(), spec.samples());
}

int BenchmarkVersionOf(const v1::BenchmarkSpec& spec) {
  return spec.has_scenario() || spec.has_settling() ? 1 : 0;
}

v1::Scenario WithDefaults(const v1::BenchmarkSpec& spec, int processors) {
  v1::Scenario scenario = spec.scenario();
  const int threads = std::max(1, spec.run().threads());
  if (scenario.kind() == v1::Scenario::SINGLE_STREAM) {
    scenario.set_instances(1);
  } else if (scenario.instances() == 0) {
    const int most = std::min(kMaxInstances, kMaxThreadsTogether / threads);
    scenario.set_instances(std::clamp(processors / threads, 1, std::max(1, most)));
  }
  if (scenario.kind() == v1::Scenario::MULTI_STREAM && scenario.calls_per_query() == 0) {
    scenario.set_calls_per_query(kDefaultCallsPerQuery);
  }
  if (scenario.kind() == v1::Scenario::SERVER && scenario.percentile_ppm() == 0) {
    scenario.set_percentile_ppm(kDefaultPercentilePpm);
  }
  return scenario;
}

}  // namespace slipway
