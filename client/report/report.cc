#include "client/report/report.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/cli/render_conditions.h"
#include "client/cli/render_profile.h"
#include "client/cli/render_scenario.h"
#include "client/report/html_writer.h"
#include "client/report/sample_chart.h"
#include "client/report/style.h"
#include "client/statistics.h"
#include "client/trace/placed_steps.h"
#include "core/base/text_table.h"
#include "core/base/version.h"

namespace slipway {
namespace {

using Row = std::vector<std::string>;

std::string Nanoseconds(double ns) { return FormatTime(absl::Nanoseconds(ns)); }

std::string Threads(int threads) {
  return absl::StrCat(threads, threads == 1 ? " thread" : " threads");
}

// A column whose title begins with ">" is one of numbers.
void Table(const Row& titles, const std::vector<Row>& rows, HtmlWriter& html) {
  html.Begin("div", {{"class", "wide"}});
  html.Begin("table");
  if (!titles.empty()) {
    html.Begin("tr");
    for (const std::string& title : titles) {
      const bool is_number = absl::StartsWith(title, ">");
      html.Element("th", absl::StripPrefix(title, ">"),
                   {{"scope", "col"}, {"class", is_number ? "number" : "text"}});
    }
    html.End();
  }
  for (const Row& row : rows) {
    html.Begin("tr");
    for (size_t i = 0; i < row.size(); ++i) {
      if (titles.empty() && i == 0) {
        html.Element("th", row[i], {{"scope", "row"}});
        continue;
      }
      const bool is_number = i < titles.size() && absl::StartsWith(titles[i], ">");
      html.Element("td", row[i], {{"class", is_number ? "number" : "text"}});
    }
    html.End();
  }
  html.End();
  html.End();
}

// Rows of "what" and "how much"; those without are left out.
void Facts(std::vector<Row> rows, HtmlWriter& html) {
  rows.erase(
      std::remove_if(rows.begin(), rows.end(), [](const Row& row) { return row.back().empty(); }),
      rows.end());
  Table({}, rows, html);
}

void Lines(absl::string_view text, const char* style, HtmlWriter& html) {
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    html.Element("p", line, {{"class", style}});
  }
}

// Of a result whose samples are times.
void Times(const BenchmarkResult& result, HtmlWriter& html) {
  const SampleStatistics statistics = Summarize(result.samples_ns, result.iterations_per_sample);
  std::vector<double> calls;
  for (const int64_t sample : result.samples_ns) {
    calls.push_back(static_cast<double>(sample) /
                    static_cast<double>(result.iterations_per_sample));
  }
  html.Element("h2", "Times of a call");
  for (const std::string& remark : Remarks(statistics)) Lines(remark, "doubt", html);
  Lines(cli::ConditionRemarks(result), "doubt", html);
  DrawHistogram(calls, statistics.p50_ns.value, html);
  Table({"", ">Time", ">95 % between", ">and"}, cli::TimeRows(result, statistics), html);
  html.Element("h2", "Samples in the order of time");
  DrawSeries(calls, result.stamps, html);
}

// A bar where the step stands in the call.
void Bar(double from, double to, HtmlWriter& html) {
  html.Begin("td");
  html.Begin("svg", {{"class", "flow"},
                     {"viewBox", "0 0 100 8"},
                     {"preserveAspectRatio", "none"},
                     {"aria-hidden", "true"}});
  const auto part = [&](double x, double width, const char* style) {
    html.Begin("rect", {{"x", absl::StrFormat("%.3f", x)},
                        {"y", "0"},
                        {"width", absl::StrFormat("%.3f", width)},
                        {"height", "8"},
                        {"class", style}});
    html.End();
  };
  part(0, 100, "track");
  part(from, std::max(to - from, 0.3), "bar");
  html.End();
  html.End();
}

void Steps(const BenchmarkResult& result, const std::optional<ArtifactSummary>& artifact,
           HtmlWriter& html) {
  const cli::StepProfile profile = {result.steps, result.peaks, result.threads,
                                    result.accelerator_peaks};
  const std::vector<Row> rows = cli::ProfileRows(profile);
  std::vector<PlacedStep> placed;
  if (artifact.has_value()) placed = PlaceSteps(result.steps, *artifact);
  const bool is_drawn = !placed.empty();
  if (!is_drawn) {
    for (size_t i = 0; i < rows.size(); ++i) placed.push_back({.number = i});
  }
  absl::Duration call;
  for (const PlacedStep& step : placed) {
    if (step.depth == 0) call += absl::Nanoseconds(result.steps[step.number].duration_ns);
  }
  html.Element("h2", absl::StrCat("Steps of a call, ", FormatTime(call), " together"));
  html.Begin("div", {{"class", "wide"}});
  html.Begin("table", {{"class", "steps"}});
  html.Begin("tr");
  for (const absl::string_view title : cli::kProfileColumns) {
    html.Element("th", absl::StripPrefix(title, ">"),
                 {{"scope", "col"}, {"class", title.front() == '>' ? "number" : "text"}});
    if (is_drawn && title == ">TIME") html.Element("th", "WHEN", {{"scope", "col"}});
  }
  html.End();
  const double whole = std::max(absl::ToDoubleNanoseconds(call), 1.0);
  for (const PlacedStep& step : placed) {
    html.Begin("tr");
    const Row& row = rows[step.number];
    for (size_t i = 0; i < row.size(); ++i) {
      const absl::string_view title = cli::kProfileColumns[i];
      // What is inside a loop or branch stands to the right of it.
      const std::string indent(static_cast<size_t>(i == 0 ? 2 * step.depth : 0), ' ');
      html.Begin("td", {{"class", title.front() == '>' ? "number" : "text"}, {"title", row[i]}});
      for (const char c : indent) html.Text(c == ' ' ? "\xc2\xa0" : "");
      html.Text(row[i]);
      html.End();
      if (is_drawn && title == ">TIME") {
        const double begin = absl::ToDoubleNanoseconds(step.begin);
        const auto length = static_cast<double>(result.steps[step.number].duration_ns);
        Bar(100 * begin / whole, 100 * (begin + length) / whole, html);
      }
    }
    html.End();
  }
  html.End();
  html.End();
  Lines(cli::ProfileTotal(profile), "text", html);
  html.Element("p", cli::kProfileHelp, {{"class", "faint"}});
}

Row MachineRow(const std::string& when, const MachineState& machine) {
  return {
      when,
      machine.cpu_frequency_hz > 0
          ? absl::StrFormat("%.2f GHz", static_cast<double>(machine.cpu_frequency_hz) / 1e9)
          : "-",
      machine.governor.empty() ? "-" : machine.governor,
      machine.temperature_millicelsius > 0
          ? absl::StrFormat("%.1f C", static_cast<double>(machine.temperature_millicelsius) / 1e3)
          : "-",
      absl::StrFormat("%.2f", static_cast<double>(machine.load_millis) / 1e3)};
}

void Device(const Report& report, const BenchmarkResult& result, HtmlWriter& html) {
  html.Element("h2", "Device");
  std::vector<Row> rows = {{"device", result.device}, {"target", result.device_target}};
  if (report.history.has_value()) {
    const MeasuredDevice& device = report.history->device;
    rows.push_back({"model", device.model});
    rows.push_back({"system", device.os});
    rows.push_back({"processors", device.cores > 0 ? absl::StrCat(device.cores) : ""});
    rows.push_back({"memory", device.memory_bytes > 0 ? FormatBytes(device.memory_bytes) : ""});
    rows.push_back({"agent", report.history->agent_version});
  }
  Facts(rows, html);
  html.Begin("p");
  html.End();
  Table({"", ">Frequency", "Governor", ">Temperature", ">Load of a minute"},
        {MachineRow("before", result.before), MachineRow("after", result.after)}, html);
}

void Benchmark(const Report& report, const BenchmarkResult& result, HtmlWriter& html) {
  const bool has_times = cli::HasTimes(result) && !result.samples_ns.empty();
  if (has_times) {
    const SampleStatistics statistics = Summarize(result.samples_ns, result.iterations_per_sample);
    html.Element("p",
                 absl::StrCat("p50 ", Nanoseconds(statistics.p50_ns.value), ", min ",
                              Nanoseconds(statistics.min_ns), " on ", Threads(result.threads)),
                 {{"class", "large"}});
  }
  if (result.disturbed) {
    html.Element(
        "p",
        absl::StrFormat("Others took %.1f %% of the processor time: the times may be high.",
                        static_cast<double>(result.disturbed_millis) / 10),
        {{"class", "doubt"}});
  }
  Lines(cli::ScenarioVerdict(result), "text", html);
  if (has_times) Times(result, html);
  html.Element("h2", "What was measured");
  std::vector<Row> rows = {{"samples", cli::SamplesText(result)}};
  for (Row& row : cli::ScenarioRows(result)) rows.push_back(std::move(row));
  rows.push_back(
      {"load", absl::StrCat(Nanoseconds(static_cast<double>(result.load_cold_ns)), " cold, ",
                            Nanoseconds(static_cast<double>(result.load_warm_ns)), " warm")});
  rows.push_back({"first call", Nanoseconds(static_cast<double>(result.first_run_ns))});
  rows.push_back({"peak memory", FormatBytes(result.peak_memory_bytes)});
  for (Row& row : cli::ConditionRows(result)) rows.push_back(std::move(row));
  Facts(rows, html);
  if (!result.steps.empty()) Steps(result, report.artifact, html);
  Device(report, result, html);
}

void Compiled(const Compilation& compilation, HtmlWriter& html) {
  html.Element("h2", compilation.cached ? "Stages, when it was compiled" : "Stages");
  std::vector<Row> rows;
  for (const StageTime& stage : compilation.stages) {
    rows.push_back({stage.name, FormatTime(stage.duration), absl::StrJoin(stage.notes, "; ")});
  }
  Table({"Stage", ">Time", "Notes"}, rows, html);
  html.Element("h2", "Passes");
  rows.clear();
  for (const StageTime& pass : compilation.passes) {
    rows.push_back({pass.name, FormatTime(pass.duration), absl::StrCat(pass.nodes_after),
                    absl::StrJoin(pass.notes, "; ")});
  }
  Table({"Pass", ">Time", ">Nodes after", "Notes"}, rows, html);
  html.Element("h2", "What it came to");
  Facts({{"kernels", absl::StrCat(compilation.kernels, ", ", compilation.kernels_compiled,
                                  " compiled, ", compilation.kernels_cached, " from the cache")},
         {"code", FormatBytes(compilation.code_bytes)},
         {"constants", FormatBytes(compilation.constant_bytes)},
         {"memory for values", FormatBytes(compilation.arena_bytes)}},
        html);
}

void Ran(const RunResult& run, HtmlWriter& html) {
  html.Element("h2", "Outputs");
  std::vector<Row> rows;
  for (const Output& output : run.outputs) {
    rows.push_back({output.name, ToString(output.type)});
  }
  Table({"Output", "Type"}, rows, html);
  html.Element("h2", "Where the time went");
  Facts({{"fetch", FormatTime(run.timings.fetch)},
         {"start of the runner", FormatTime(run.timings.spawn)},
         {"load", FormatTime(run.timings.load)},
         {"run", FormatTime(run.timings.run)},
         {"upload", FormatTime(run.timings.upload)},
         {"device", run.device}},
        html);
}

void Program(const ArtifactSummary& artifact, HtmlWriter& html) {
  html.Element("h2", "Program");
  const auto ports = [](const std::vector<NamedType>& types) {
    return absl::StrJoin(types, ", ", [](std::string* out, const NamedType& named) {
      absl::StrAppend(out, named.name, " ", ToString(named.type));
    });
  };
  Facts({{"target", artifact.target},
         {"inputs", ports(artifact.inputs)},
         {"outputs", ports(artifact.outputs)},
         {"kernels", absl::StrCat(artifact.kernels)},
         {"code", FormatBytes(artifact.code_bytes)},
         {"constants", FormatBytes(artifact.constant_bytes)},
         {"memory for values", FormatBytes(artifact.arena_bytes)},
         {"artifact", FormatBytes(artifact.artifact_bytes)},
         {"digest", artifact.digest.hex()},
         {"compile key", artifact.compile_key}},
        html);
}

void AboutJob(const Report& report, HtmlWriter& html) {
  const Job& job = report.job;
  const auto time = [](absl::Time at) {
    return at == absl::InfinitePast() ? "" : FormatWallTime(at);
  };
  html.Element("h2", "Job");
  std::vector<Row> rows = {{"id", job.id},
                           {"owner", job.owner},
                           {"accepted", time(job.create_time)},
                           {"began", time(job.start_time)},
                           {"ended", time(job.end_time)},
                           {"by", job.assignee},
                           {"attempts", job.attempts > 0 ? absl::StrCat(job.attempts) : ""}};
  for (const Tag& tag : job.tags) rows.push_back({absl::StrCat("tag ", tag.key), tag.value});
  Facts(rows, html);
  html.Element("h2", "Versions");
  rows.clear();
  for (const auto& [name, version] : report.versions) rows.push_back({name, version});
  Facts(rows, html);
}

}  // namespace

std::string RenderReport(const Report& report) {
  const Job& job = report.job;
  const std::string title = absl::StrCat(Name(job.kind), " of ", report.subject);
  HtmlWriter html;
  html.Empty("!DOCTYPE html");
  html.Begin("html", {{"lang", "en"}});
  html.Begin("head");
  html.Empty("meta", {{"charset", "utf-8"}});
  // Whoever opens it tells nobody that he does, whatever is in it.
  html.Empty("meta", {{"http-equiv", "Content-Security-Policy"},
                      {"content", "default-src \x27none\x27; style-src \x27unsafe-inline\x27"}});
  html.Empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  html.Element("title", title);
  html.Style(kReportStyle);
  html.End();
  html.Begin("body");
  html.Element("h1", title);
  const std::string where = job.benchmark.has_value() ? job.benchmark->device
                            : job.run.has_value()     ? job.run->device
                                                      : job.target;
  html.Element("p",
               absl::StrCat(where.empty() ? "" : absl::StrCat(where, ", "), Name(job.state), " ",
                            FormatWallTime(job.end_time)),
               {{"class", "faint"}});
  if (job.state == JobState::kFailed) {
    html.Element("p", job.error.message(), {{"class", "failed"}});
    if (!job.error_log.empty()) html.Element("pre", job.error_log);
  }
  if (job.benchmark.has_value()) Benchmark(report, *job.benchmark, html);
  if (job.compilation.has_value()) Compiled(*job.compilation, html);
  if (job.run.has_value()) Ran(*job.run, html);
  if (report.artifact.has_value()) Program(*report.artifact, html);
  AboutJob(report, html);
  html.Element(
      "p",
      absl::StrCat("Written by slipway ", kVersion, " on ", FormatWallTime(report.written), "."),
      {{"class", "faint"}});
  html.End();
  html.End();
  return html.Take();
}

}  // namespace slipway
