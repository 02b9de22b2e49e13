#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/render.h"
#include "client/cli/render_check.h"
#include "client/cli/render_conditions.h"
#include "client/cli/render_parts.h"
#include "client/cli/render_profile.h"
#include "client/cli/render_scenario.h"
#include "client/statistics.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

void PercentileJson(JsonWriter& json, absl::string_view name,
                    const std::optional<Estimate>& estimate) {
  const std::string value = absl::StrCat(name, "_ns");
  estimate.has_value() ? json.Real(value, estimate->value) : json.Null(value);
  IntervalJson(json, absl::StrCat(name, "_interval_ns"),
               estimate.has_value() ? estimate->interval : std::nullopt);
}

void ModesJson(JsonWriter& json, const std::optional<TwoModes>& modes) {
  if (!modes.has_value()) return json.Null("two_modes");
  json.BeginObject("two_modes");
  json.Real("low_ns", modes->low);
  json.Real("high_ns", modes->high);
  json.Real("share_high", modes->share_high);
  json.EndObject();
}

// Times of calls or queries; `remarks` get what else is to be said of them.
std::string TimesTable(const BenchmarkResult& result, std::vector<std::string>& remarks) {
  const SampleStatistics s = Summarize(result.samples_ns, result.iterations_per_sample);
  TextTable times({"", ">TIME", ">95 % BETWEEN", ">AND"});
  for (std::vector<std::string>& row : TimeRows(result, s)) times.Row(std::move(row));
  remarks = Remarks(s);
  return times.Render("  ");
}

// Null where samples are no times.
void TimesJson(JsonWriter& json, const BenchmarkResult& result) {
  if (!HasTimes(result)) {
    json.Null("min_ns");
    for (const char* name : {"p50", "p90", "p99"}) PercentileJson(json, name, std::nullopt);
    return;
  }
  const SampleStatistics s = Summarize(result.samples_ns, result.iterations_per_sample);
  json.Real("min_ns", s.min_ns);
  PercentileJson(json, "p50", s.p50_ns);
  PercentileJson(json, "p90", s.p90_ns);
  PercentileJson(json, "p99", s.p99_ns);
  json.Real("lag1_autocorrelation", s.lag1_autocorrelation);
  json.Real("effective_samples", s.effective_samples);
  ModesJson(json, s.modes);
}

}  // namespace

std::string RenderBenchmark(const BenchmarkContext& context, const BenchmarkResult& result) {
  TextTable about({"", ""});
  about.Row({"model", context.model});
  about.Row({"target", context.artifact.target});
  about.Row({"device", absl::StrCat(result.device, ", ", result.threads,
                                    result.threads == 1 ? " thread" : " threads")});
  about.Row({"samples", SamplesText(result)});
  if (!context.tags.empty()) about.Row({"tags", TagsText(context.tags)});
  for (std::vector<std::string>& row : ScenarioRows(result)) about.Row(std::move(row));
  TextTable rest({"", ""});
  rest.Row({"load", absl::StrCat(FormatTime(absl::Nanoseconds(result.load_cold_ns)), " cold, ",
                                 FormatTime(absl::Nanoseconds(result.load_warm_ns)), " warm")});
  rest.Row({"first run", FormatTime(absl::Nanoseconds(result.first_run_ns))});
  rest.Row({"peak memory", FormatBytes(result.peak_memory_bytes)});
  for (std::vector<std::string>& row : ConditionRows(result)) rest.Row(std::move(row));
  rest.Row({"artifact", FormatBytes(context.artifact.artifact_bytes)});
  std::string text = absl::StrCat(about.Render("", false), "\n");
  std::vector<std::string> remarks;
  if (HasTimes(result)) absl::StrAppend(&text, TimesTable(result, remarks), "\n");
  absl::StrAppend(&text, rest.Render("", false));
  for (const std::string& remark : remarks) absl::StrAppend(&text, remark, "\n");
  absl::StrAppend(&text, ConditionRemarks(result), ScenarioVerdict(result));
  if (result.disturbed) {
    absl::StrAppendFormat(
        &text, "disturbed: others took %.1f %% of the CPU time; the numbers may be high\n",
        static_cast<double>(result.disturbed_millis) / 10);
  }
  if (context.check.has_value()) absl::StrAppend(&text, RenderCheck(*context.check));
  if (!result.steps.empty()) {
    absl::StrAppend(&text, RenderProfile({result.steps, result.peaks, result.threads,
                                          result.accelerator_peaks}));
  }
  return text;
}

std::string RenderBenchmarkJson(const BenchmarkContext& context, const BenchmarkResult& result) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Text("job", context.job);
  json.Text("model", context.model);
  TagsJson(json, context.tags);
  json.Text("target", context.artifact.target);
  json.Text("device", result.device);
  json.Text("device_target", result.device_target);
  json.Text("artifact_digest", context.artifact.digest.hex());
  json.Text("compile_key", context.artifact.compile_key);
  json.BeginObject("versions");
  for (const auto& [name, version] : context.versions) json.Text(name, version);
  json.EndObject();
  json.Integer("threads", result.threads);
  json.Integers("samples_ns", result.samples_ns);
  json.Integer("iterations_per_sample", result.iterations_per_sample);
  TimesJson(json, result);
  ScenarioJson(json, result);
  if (result.precision_ppm.has_value()) json.Integer("precision_ppm", *result.precision_ppm);
  json.Integer("load_cold_ns", result.load_cold_ns);
  json.Integer("load_warm_ns", result.load_warm_ns);
  json.Integer("first_run_ns", result.first_run_ns);
  json.Integer("peak_memory_bytes", result.peak_memory_bytes);
  ConditionsJson(json, result);
  json.Integer("artifact_bytes", context.artifact.artifact_bytes);
  json.Bool("disturbed", result.disturbed);
  json.Integer("disturbed_millis", result.disturbed_millis);
  MachineJson(json, "before", result.before);
  MachineJson(json, "after", result.after);
  json.Text("started_at",
            absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", result.start_time, absl::UTCTimeZone()));
  if (!result.steps.empty()) {
    ProfileJson(json, {result.steps, result.peaks, result.threads, result.accelerator_peaks});
  }
  if (!result.peaks.empty()) PeaksJson(json, result.peaks);
  AcceleratorPeaksJson(json, result.accelerator_peaks);
  if (context.check.has_value()) CheckJson(json, *context.check);
  json.EndObject();
  return json.Take();
}

}  // namespace slipway::cli
