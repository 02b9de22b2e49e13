#include "client/cli/scenario_flags.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/cli/percent.h"
#include "core/base/status_macros.h"
#include "core/statistics/quantile.h"

namespace slipway::cli {
namespace {

constexpr int64_t kSamples = 100;
constexpr double kSeconds = 10;
constexpr int64_t kMostByDefault = 100'000;
constexpr double kMaxQps = 1e6;
constexpr double kLeastQps = 1e-3;
constexpr absl::Duration kLongestBound = absl::Hours(1);
constexpr double kDefaultPercentile = 0.99;

absl::StatusOr<ScenarioKind> ParseKind(const std::string& text) {
  for (const ScenarioKind kind : {ScenarioKind::kSingleStream, ScenarioKind::kMultiStream,
                                  ScenarioKind::kOffline, ScenarioKind::kServer}) {
    if (Name(kind) == text) return kind;
  }
  return WrongCall(
      absl::StrCat("flag \"--scenario\" takes single-stream, multi-stream, offline or "
                   "server, not \"",
                   text, "\""));
}

absl::StatusOr<double> ParseQps(const std::string& text) {
  double qps = 0;
  // Written so that what is no number is refused, too.
  if (absl::SimpleAtod(text, &qps) && qps >= kLeastQps && qps <= kMaxQps) return qps;
  return WrongCall(
      absl::StrCat("flag \"--qps\" takes queries a second, 0.001 to 1000000, not \"", text, "\""));
}

absl::Status OnlyFor(ScenarioKind wanted, const std::optional<ScenarioKind>& kind,
                     const FlagSet& flags, absl::string_view flag) {
  if (kind == wanted || !flags.IsSet(flag)) return absl::OkStatus();
  return WrongCall(absl::StrCat("\"--", flag, "\" is for \"--scenario ", Name(wanted), "\""));
}

}  // namespace

void ScenarioFlags::AddTo(FlagSet& flags) {
  flags.Add("scenario", &scenario, "NAME",
            "How calls come: single-stream, one after the other (the default); multi-stream, "
            "several at once; offline, all at once; server, at random.");
  flags.Add("calls", &calls, 1, 65'536, "N",
            "Of multi-stream: calls of a query, which are made at once; 8 by default.");
  flags.Add("instances", &instances, 1, 256, "N",
            "Contexts of the program that are called at the same time, with \"--threads\" each; by "
            "default as many as there are processors for their threads.");
  flags.Add(
      "qps", &qps, "N",
      "Of server: queries a second, such as 250 or 0.5; with \"--find-qps\" the first to try.");
  flags.Add("latency-bound", &latency_bound, "TIME",
            "Of server: what the latency at \"--percentile\" is held against, such as 20ms.");
  flags.Add("percentile", &percentile, "PERCENT", "Of server: such as 99.9%; 99% by default.");
  flags.Add("find-qps", &find_qps,
            "Of server: find the highest rate that meets the bound, to 2 %.");
}

absl::StatusOr<std::optional<Scenario>> ScenarioFlags::Read(const FlagSet& flags) const {
  std::optional<ScenarioKind> kind;
  if (flags.IsSet("scenario")) {
    SLIPWAY_ASSIGN_OR_RETURN(kind, ParseKind(scenario));
  }
  SLIPWAY_RETURN_IF_ERROR(OnlyFor(ScenarioKind::kMultiStream, kind, flags, "calls"));
  for (const char* flag : {"qps", "latency-bound", "percentile", "find-qps"}) {
    SLIPWAY_RETURN_IF_ERROR(OnlyFor(ScenarioKind::kServer, kind, flags, flag));
  }
  if (flags.IsSet("instances") &&
      kind.value_or(ScenarioKind::kSingleStream) == ScenarioKind::kSingleStream) {
    return WrongCall("\"--instances\" is for scenarios with several calls at once");
  }
  if (!kind.has_value()) return std::nullopt;
  Scenario read = {.kind = *kind,
                   .instances = static_cast<int>(instances),
                   .calls_per_query = static_cast<int>(calls)};
  if (*kind != ScenarioKind::kServer) return read;
  read.find_qps = find_qps;
  if (flags.IsSet("qps")) {
    SLIPWAY_ASSIGN_OR_RETURN(read.qps, ParseQps(qps));
  } else if (!find_qps) {
    return WrongCall("\"--scenario server\" needs \"--qps N\", or \"--find-qps\" with a bound");
  }
  if (flags.IsSet("latency-bound") &&
      (latency_bound <= absl::ZeroDuration() || latency_bound > kLongestBound)) {
    return WrongCall("flag \"--latency-bound\" takes a time above 0, at most 1h");
  }
  if (find_qps && !flags.IsSet("latency-bound")) {
    return WrongCall("\"--find-qps\" needs \"--latency-bound TIME\"");
  }
  read.latency_bound = latency_bound;
  read.percentile = kDefaultPercentile;
  if (flags.IsSet("percentile")) {
    SLIPWAY_ASSIGN_OR_RETURN(read.percentile, ParsePercent("percentile", percentile, 99.9999));
  }
  return read;
}

int64_t DefaultSamples(const std::optional<Scenario>& scenario) {
  if (!scenario.has_value()) return kSamples;
  switch (scenario->kind) {
    case ScenarioKind::kSingleStream:
    case ScenarioKind::kMultiStream:
      return kSamples;
    case ScenarioKind::kOffline:
      return 1000;
    case ScenarioKind::kServer:
      break;
  }
  const int64_t needed = SamplesForQuantile(scenario->percentile);
  if (scenario->find_qps) return std::clamp<int64_t>(5 * needed, 500, kMostByDefault);
  const auto in_time = static_cast<int64_t>(scenario->qps * kSeconds);
  return std::max(kSamples,
                  std::clamp(in_time, std::min(2 * needed, kMostByDefault), kMostByDefault));
}

absl::Status CheckScenarioTaken(const std::optional<Scenario>& asked,
                                const BenchmarkResult& result) {
  if (!asked.has_value() ||
      (result.scenario.has_value() && result.scenario->scenario.kind == asked->kind)) {
    return absl::OkStatus();
  }
  return WithExitCode(absl::FailedPreconditionError(absl::StrCat(
                          "the agent of device \"", result.device,
                          "\" knows no scenarios and has made calls one after the other, "
                          "which is not what was asked for: update the agent and the server")),
                      ExitCode::kWorkFailed);
}

}  // namespace slipway::cli
