#include "client/cli/render_gate.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/percent.h"
#include "client/cli/render_history.h"
#include "client/cli/render_parts.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"
#include "core/statistics/median.h"

namespace slipway::cli {
namespace {

// Sittings of each that fit into a line.
constexpr size_t kMaxBars = 30;
constexpr size_t kBarBytes = 3;

std::string Nanoseconds(double ns) { return FormatTime(absl::Nanoseconds(ns)); }

std::string Sittings(int64_t count) {
  return absl::StrCat(count, count == 1 ? " sitting" : " sittings");
}

std::vector<double> NewestTimes(const std::vector<Sitting>& sittings) {
  std::vector<double> times;
  for (size_t i = sittings.size() - std::min(sittings.size(), kMaxBars); i < sittings.size(); ++i) {
    times.push_back(sittings[i].call_ns);
  }
  return times;
}

// Those of the baseline, then those of the candidate, on one scale.
std::string Bars(const HistoryFinding& history) {
  std::vector<double> times = NewestTimes(history.baseline);
  const size_t of_baseline = times.size();
  const std::vector<double> of_candidate = NewestTimes(history.candidate);
  times.insert(times.end(), of_candidate.begin(), of_candidate.end());
  const std::string bars = Sparkline(times);
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  return absl::StrCat("  ", bars.substr(0, of_baseline * kBarBytes), " ",
                      bars.substr(of_baseline * kBarBytes), "  ", Nanoseconds(*least), " to ",
                      Nanoseconds(*most), "\n");
}

double MedianOf(const std::vector<Sitting>& sittings) {
  std::vector<double> times;
  for (const Sitting& sitting : sittings) times.push_back(sitting.call_ns);
  return Median(std::move(times));
}

std::string Table(const GateReport& report) {
  TextTable table({"", "TAG", ">RESULTS", ">SITTINGS", "FIRST", "LAST", ">p50", "ARTIFACT"});
  const auto row = [&](const char* role, const std::string& tag, const HistorySeries& series,
                       const std::vector<Sitting>& sittings) {
    table.Row({role, tag, absl::StrCat(series.entries.size()), absl::StrCat(sittings.size()),
               FormatWallTime(series.entries.front().end_time),
               FormatWallTime(series.entries.back().end_time), Nanoseconds(MedianOf(sittings)),
               series.entries.back().artifact.hex().substr(0, 12)});
  };
  row("baseline", ToString(report.baseline), report.results.baseline,
      report.finding.history.baseline);
  row("candidate", report.candidate.has_value() ? ToString(*report.candidate) : "-",
      report.results.candidate, report.finding.history.candidate);
  return table.Render();
}

std::string RatioText(const Estimate& ratio) {
  std::string text = absl::StrFormat("the candidate takes %.4f times as long", ratio.value);
  if (ratio.interval.has_value()) {
    absl::StrAppendFormat(&text, " (%g %%: %.4f to %.4f)", kComparisonConfidence * 100,
                          ratio.interval->low, ratio.interval->high);
  }
  return text;
}

std::string HistoryText(const HistoryFinding& history) {
  std::string text = absl::StrCat("history: ", RatioText(history.ratio));
  if (!history.ratio.interval.has_value()) {
    absl::StrAppend(&text, ", which ", Sittings(static_cast<int64_t>(history.candidate.size())),
                    " cannot bound");
  }
  if (history.verdict == GateVerdict::kUndecided) {
    absl::StrAppend(&text, "; ",
                    history.sittings_wanted.has_value()
                        ? absl::StrCat("about ", Sittings(*history.sittings_wanted), " of it, ",
                                       FormatTime(history.sitting), " apart, would tell")
                        : "with this baseline, no number of its results would tell");
  }
  return absl::StrCat(text, "\n");
}

std::string TurnsText(const GateReport& report) {
  if (const auto& turns = report.finding.turns; turns.has_value()) {
    return absl::StrCat("in turns: ", RatioText(turns->ratio), ", ", turns->cycles, " cycles\n");
  }
  return report.not_timed.empty() ? ""
                                  : absl::StrCat("not timed in turns: ", report.not_timed, "\n");
}

std::string VerdictText(const GateReport& report) {
  const std::string most = FormatPercent(report.max_regression);
  const std::string half = FormatPercent(report.max_regression / 2);
  switch (report.finding.verdict) {
    case GateVerdict::kPassed:
      if (report.is_one_program()) return "both are one artifact; what differs is the machine";
      return absl::StrCat("a regression of ", most, " is excluded",
                          report.finding.history.verdict == GateVerdict::kRegressed
                              ? "; what became slower is the machine"
                              : "");
    case GateVerdict::kRegressed:
      return absl::StrCat("it is slower by more than ", half, ", and ", most, " is not excluded");
    case GateVerdict::kUndecided:
      return absl::StrCat("a regression of ", most, " is not excluded, and none of ", half,
                          " is shown");
  }
  return "";
}

void SideJson(JsonWriter& json, absl::string_view side, const std::optional<Tag>& tag,
              const HistorySeries& series, const std::vector<Sitting>& sittings) {
  json.BeginObject(side);
  if (tag.has_value()) {
    json.Text("tag", ToString(*tag));
  } else {
    json.Null("tag");
  }
  json.Text("artifact_digest", series.entries.back().artifact.hex());
  json.BeginArray("results");
  for (const HistoryEntry& entry : series.entries) json.Text("", entry.id);
  json.EndArray();
  json.BeginArray("sittings");
  for (const Sitting& sitting : sittings) {
    json.BeginObject();
    json.Integer("begin_ns", absl::ToUnixNanos(sitting.begin));
    json.Integer("results", sitting.results);
    json.Real("p50_ns", sitting.call_ns);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

}  // namespace

std::string RenderGate(const GateReport& report) {
  const HistorySeries& series = report.results.candidate;
  return absl::StrCat(
      Printable(series.model), " for ", Printable(series.target), " on ", Printable(series.device),
      ", ", series.threads, series.threads == 1 ? " thread\n" : " threads\n", Table(report),
      Bars(report.finding.history), HistoryText(report.finding.history), TurnsText(report),
      Name(report.finding.verdict), ": ", VerdictText(report), "\n");
}

std::string RenderGateJson(const GateReport& report) {
  const HistorySeries& series = report.results.candidate;
  const HistoryFinding& history = report.finding.history;
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Text("verdict", Name(report.finding.verdict));
  json.Real("max_regression", report.max_regression);
  json.Real("confidence", kComparisonConfidence);
  json.Text("model", series.model);
  json.Text("target", series.target);
  json.Text("device", series.device);
  json.Integer("threads", series.threads);
  json.Bool("one_program", report.is_one_program());
  SideJson(json, "baseline", report.baseline, report.results.baseline, history.baseline);
  SideJson(json, "candidate", report.candidate, report.results.candidate, history.candidate);
  json.BeginObject("history");
  json.Text("verdict", Name(history.verdict));
  json.Real("ratio", history.ratio.value);
  IntervalJson(json, "ratio_interval", history.ratio.interval);
  json.Real("spread", history.spread);
  json.Real("sitting_seconds", absl::ToDoubleSeconds(history.sitting));
  if (history.sittings_wanted.has_value()) {
    json.Integer("sittings_wanted", *history.sittings_wanted);
  } else {
    json.Null("sittings_wanted");
  }
  json.EndObject();
  if (const auto& turns = report.finding.turns; turns.has_value()) {
    json.BeginObject("turns");
    json.Text("verdict", Name(Judge(turns->ratio, report.max_regression)));
    json.Real("ratio", turns->ratio.value);
    IntervalJson(json, "ratio_interval", turns->ratio.interval);
    json.Integer("cycles", turns->cycles);
    json.Real("baseline_p50_ns", turns->a_ns);
    json.Real("candidate_p50_ns", turns->b_ns);
    json.Real("lag1_autocorrelation", turns->lag1_autocorrelation);
    json.EndObject();
  } else {
    json.Null("turns");
  }
  if (report.not_timed.empty()) {
    json.Null("not_timed");
  } else {
    json.Text("not_timed", report.not_timed);
  }
  json.EndObject();
  return json.Take();
}

}  // namespace slipway::cli
