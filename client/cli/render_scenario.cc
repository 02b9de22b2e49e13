#include "client/cli/render_scenario.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/render_parts.h"
#include "client/throughput.h"
#include "core/base/text_table.h"
#include "core/statistics/quantile.h"

namespace slipway::cli {
namespace {

std::string Rate(double per_second) {
  return absl::StrFormat("%.*f", per_second < 100 ? 2 : 0, per_second);
}

std::string PercentileName(double percentile) { return absl::StrFormat("p%g", percentile * 100); }

std::string Nanoseconds(double ns) { return FormatTime(absl::Nanoseconds(ns)); }

std::vector<std::string> PercentileRow(const std::string& name,
                                       const std::optional<Estimate>& estimate, double p) {
  if (!estimate.has_value()) {
    return {name, "-", absl::StrCat("needs ", SamplesForQuantile(p)), "samples"};
  }
  const auto& interval = estimate->interval;
  return {name, Nanoseconds(estimate->value),
          interval.has_value() ? Nanoseconds(interval->low) : "-",
          interval.has_value() ? Nanoseconds(interval->high) : "-"};
}

const char* Name(BoundVerdict verdict) {
  switch (verdict) {
    case BoundVerdict::kMet:
      return "met";
    case BoundVerdict::kMissed:
      return "missed";
    case BoundVerdict::kUndecided:
      break;
  }
  return "undecided";
}

std::string Counted(int64_t count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

double Achieved(const BenchmarkResult& result) {
  return CallsPerSecond(static_cast<int64_t>(result.samples_ns.size()), result.scenario->duration);
}

}  // namespace

bool HasTimes(const BenchmarkResult& result) {
  return !result.scenario.has_value() || result.scenario->scenario.kind != ScenarioKind::kOffline;
}

std::string SamplesText(const BenchmarkResult& result) {
  const size_t samples = result.samples_ns.size();
  const ScenarioKind kind =
      result.scenario.has_value() ? result.scenario->scenario.kind : ScenarioKind::kSingleStream;
  switch (kind) {
    case ScenarioKind::kMultiStream:
      return absl::StrCat(samples, " queries of ",
                          Counted(result.scenario->scenario.calls_per_query, "call"));
    case ScenarioKind::kServer:
      return absl::StrCat(samples, " queries");
    case ScenarioKind::kSingleStream:
    case ScenarioKind::kOffline:
      break;
  }
  return absl::StrCat(samples, " of ", Counted(result.iterations_per_sample, "call"));
}

std::vector<std::vector<std::string>> ScenarioRows(const BenchmarkResult& result) {
  if (!result.scenario.has_value()) return {};
  const Scenario& scenario = result.scenario->scenario;
  if (scenario.kind == ScenarioKind::kSingleStream) return {};
  std::vector<std::vector<std::string>> rows = {
      {"scenario",
       absl::StrCat(Name(scenario.kind), ", ", Counted(scenario.instances, "instance"))}};
  if (scenario.kind == ScenarioKind::kServer) {
    rows.push_back({"queries a second", absl::StrCat(Rate(scenario.qps), " asked, ",
                                                     Rate(Achieved(result)), " achieved")});
    return rows;
  }
  std::string throughput = Rate(CallsPerSecond(result.scenario->calls, result.scenario->duration));
  if (scenario.kind == ScenarioKind::kOffline) {
    const Estimate estimate = OfflineThroughput(result.samples_ns, result.iterations_per_sample);
    if (estimate.interval.has_value()) {
      absl::StrAppend(&throughput, " (95 %: ", Rate(estimate.interval->low), " to ",
                      Rate(estimate.interval->high), ")");
    }
  }
  rows.push_back({"calls a second", throughput});
  return rows;
}

std::optional<std::string> ScenarioPercentile(const BenchmarkResult& result) {
  if (!result.scenario.has_value() || result.scenario->scenario.kind != ScenarioKind::kServer) {
    return std::nullopt;
  }
  const double percentile = result.scenario->scenario.percentile;
  for (const double shown : {0.5, 0.9, 0.99}) {
    if (percentile == shown) return std::nullopt;
  }
  return PercentileName(percentile);
}

std::vector<std::vector<std::string>> TimeRows(const BenchmarkResult& result,
                                               const SampleStatistics& statistics) {
  std::vector<std::vector<std::string>> rows = {{"min", Nanoseconds(statistics.min_ns), "", ""},
                                                PercentileRow("p50", statistics.p50_ns, 0.5),
                                                PercentileRow("p90", statistics.p90_ns, 0.9),
                                                PercentileRow("p99", statistics.p99_ns, 0.99)};
  if (const auto percentile = ScenarioPercentile(result); percentile.has_value()) {
    const double p = result.scenario->scenario.percentile;
    std::vector<double> calls(result.samples_ns.begin(), result.samples_ns.end());
    for (double& call : calls) call /= static_cast<double>(result.iterations_per_sample);
    const Estimate estimate = EstimateQuantile(calls, p);
    rows.push_back(PercentileRow(
        *percentile, estimate.interval.has_value() ? std::make_optional(estimate) : std::nullopt,
        p));
  }
  return rows;
}

std::string ScenarioVerdict(const BenchmarkResult& result) {
  if (!result.scenario.has_value() || !result.scenario->verdict.has_value()) return "";
  const Scenario& scenario = result.scenario->scenario;
  std::string text;
  if (!result.scenario->trials.empty()) {
    TextTable trials(
        {">QUERIES/S", absl::StrCat(">", PercentileName(scenario.percentile)), "BOUND"});
    for (const ScenarioResult::Trial& trial : result.scenario->trials) {
      trials.Row({Rate(trial.qps), FormatTime(trial.latency), Name(trial.verdict)});
    }
    text = absl::StrCat("\n", trials.Render("  "), "\n");
  }
  const std::string bound = absl::StrCat(PercentileName(scenario.percentile), " within ",
                                         FormatTime(scenario.latency_bound), " at ",
                                         Rate(scenario.qps), " queries a second");
  switch (*result.scenario->verdict) {
    case BoundVerdict::kMet:
      return absl::StrCat(text, "met: ", bound,
                          scenario.find_qps ? ", the highest rate that was found\n" : "\n");
    case BoundVerdict::kMissed:
      return absl::StrCat(text, "missed: ", bound,
                          scenario.find_qps ? ", and at every other rate\n" : "\n");
    case BoundVerdict::kUndecided:
      break;
  }
  return absl::StrCat(text, "undecided: ", bound, "; more \"--samples\" would tell\n");
}

void ScenarioJson(JsonWriter& json, const BenchmarkResult& result) {
  if (!result.scenario.has_value()) return;
  const Scenario& scenario = result.scenario->scenario;
  json.BeginObject("scenario");
  json.Text("name", Name(scenario.kind));
  json.Integer("instances", scenario.instances);
  json.Integer("calls", result.scenario->calls);
  json.Integer("duration_ns", absl::ToInt64Nanoseconds(result.scenario->duration));
  json.Real("calls_per_second", CallsPerSecond(result.scenario->calls, result.scenario->duration));
  if (scenario.kind == ScenarioKind::kOffline) {
    IntervalJson(json, "calls_per_second_interval",
                 OfflineThroughput(result.samples_ns, result.iterations_per_sample).interval);
  }
  if (scenario.kind == ScenarioKind::kMultiStream) {
    json.Integer("calls_per_query", scenario.calls_per_query);
  }
  if (scenario.kind == ScenarioKind::kServer) {
    json.Real("qps", scenario.qps);
    json.Real("achieved_qps", Achieved(result));
    json.Real("percentile", scenario.percentile);
    const std::vector<double> series(result.samples_ns.begin(), result.samples_ns.end());
    const Estimate latency = EstimateQuantile(series, scenario.percentile);
    latency.interval.has_value() ? json.Real("latency_ns", latency.value) : json.Null("latency_ns");
    IntervalJson(json, "latency_interval_ns", latency.interval);
    json.Integer("latency_bound_ns", absl::ToInt64Nanoseconds(scenario.latency_bound));
    const auto& verdict = result.scenario->verdict;
    verdict.has_value() ? json.Text("bound", Name(*verdict)) : json.Null("bound");
    json.BeginArray("trials");
    for (const ScenarioResult::Trial& trial : result.scenario->trials) {
      json.BeginObject();
      json.Real("qps", trial.qps);
      json.Integer("latency_ns", absl::ToInt64Nanoseconds(trial.latency));
      json.Text("bound", Name(trial.verdict));
      json.EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
}

}  // namespace slipway::cli
