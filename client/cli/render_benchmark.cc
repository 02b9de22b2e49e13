#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/render.h"
#include "client/cli/render_parts.h"
#include "client/cli/render_profile.h"
#include "client/statistics.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

std::string Nanoseconds(double ns) { return FormatTime(absl::Nanoseconds(ns)); }

}  // namespace

std::string RenderBenchmark(const BenchmarkContext& context, const BenchmarkResult& result) {
  const SampleStatistics s = Summarize(result.samples_ns, result.iterations_per_sample);
  TextTable about({"", ""});
  about.Row({"model", context.model});
  about.Row({"target", context.artifact.target});
  about.Row({"device", absl::StrCat(result.device, ", ", result.threads,
                                    result.threads == 1 ? " thread" : " threads")});
  about.Row({"samples", absl::StrCat(result.samples_ns.size(), " of ", result.iterations_per_sample,
                                     result.iterations_per_sample == 1 ? " call" : " calls")});
  TextTable times({">min", ">p50", ">p90", ">p99"});
  times.Row({Nanoseconds(s.min_ns), Nanoseconds(s.p50_ns), Nanoseconds(s.p90_ns),
             s.p99_ns.has_value() ? Nanoseconds(*s.p99_ns) : "-"});
  TextTable rest({"", ""});
  rest.Row({"load", absl::StrCat(FormatTime(absl::Nanoseconds(result.load_cold_ns)), " cold, ",
                                 FormatTime(absl::Nanoseconds(result.load_warm_ns)), " warm")});
  rest.Row({"first run", FormatTime(absl::Nanoseconds(result.first_run_ns))});
  rest.Row({"peak memory", FormatBytes(result.peak_memory_bytes)});
  rest.Row({"artifact", FormatBytes(context.artifact.artifact_bytes)});
  std::string text =
      absl::StrCat(about.Render("", false), "\n", times.Render("  "), "\n", rest.Render("", false));
  if (result.disturbed) {
    absl::StrAppendFormat(
        &text, "disturbed: others took %.1f %% of the CPU time; the numbers may be high\n",
        static_cast<double>(result.disturbed_millis) / 10);
  }
  if (!result.steps.empty()) {
    absl::StrAppend(&text, RenderProfile({result.steps, result.peaks, result.threads}));
  }
  return text;
}

std::string RenderBenchmarkJson(const BenchmarkContext& context, const BenchmarkResult& result) {
  const SampleStatistics s = Summarize(result.samples_ns, result.iterations_per_sample);
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Text("job", context.job);
  json.Text("model", context.model);
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
  json.Real("min_ns", s.min_ns);
  json.Real("p50_ns", s.p50_ns);
  json.Real("p90_ns", s.p90_ns);
  s.p99_ns.has_value() ? json.Real("p99_ns", *s.p99_ns) : json.Null("p99_ns");
  json.Integer("load_cold_ns", result.load_cold_ns);
  json.Integer("load_warm_ns", result.load_warm_ns);
  json.Integer("first_run_ns", result.first_run_ns);
  json.Integer("peak_memory_bytes", result.peak_memory_bytes);
  json.Integer("artifact_bytes", context.artifact.artifact_bytes);
  json.Bool("disturbed", result.disturbed);
  json.Integer("disturbed_millis", result.disturbed_millis);
  MachineJson(json, "before", result.before);
  MachineJson(json, "after", result.after);
  json.Text("started_at",
            absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", result.start_time, absl::UTCTimeZone()));
  if (!result.steps.empty()) ProfileJson(json, {result.steps, result.peaks, result.threads});
  if (!result.peaks.empty()) PeaksJson(json, result.peaks);
  json.EndObject();
  return json.Take();
}

}  // namespace slipway::cli
