#include "client/cli/render_tuning.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/percent.h"
#include "client/cli/render_parts.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

bool IsChanged(const TunedKernel& kernel) { return kernel.schedule != kernel.default_schedule; }

std::string Time(double ns) { return FormatTime(absl::Nanoseconds(ns)); }

std::string Gain(double default_ns, double ns) {
  return default_ns > 0 ? absl::StrFormat("%.1f %%", (1 - ns / default_ns) * 100) : "";
}

std::string Whole(const TuningReport& report) {
  const std::optional<Comparison>& whole = report.result.whole;
  if (!whole.has_value()) return "nothing is faster than what the compiler chooses\n";
  std::string text =
      absl::StrFormat("the whole program takes %.4f times as long", whole->ratio.value);
  if (const auto& interval = whole->ratio.interval; interval.has_value()) {
    absl::StrAppendFormat(&text, " (%g %%: %.4f to %.4f)", kComparisonConfidence * 100,
                          interval->low, interval->high);
  }
  switch (whole->verdict) {
    case Verdict::kBetter:
      break;
    case Verdict::kSame:
      absl::StrAppend(&text, ": it is not shown to be faster by ", FormatPercent(kWholeMargin));
      break;
    case Verdict::kWorse:
      absl::StrAppend(&text, ": it is slower, and nothing of it is kept");
      break;
  }
  return absl::StrCat(text, "\n");
}

void WholeJson(JsonWriter& json, const std::optional<Comparison>& whole) {
  if (!whole.has_value()) {
    json.Null("whole");
    return;
  }
  json.BeginObject("whole");
  json.Text("verdict", Name(whole->verdict));
  json.Bool("certain", whole->is_certain);
  json.Real("ratio", whole->ratio.value);
  IntervalJson(json, "ratio_interval", whole->ratio.interval);
  json.Integer("cycles", whole->cycles);
  json.EndObject();
}

}  // namespace

std::string RenderTuning(const TuningReport& report) {
  const TuningResult& result = report.result;
  std::string text =
      absl::StrCat("tuned on ", Printable(report.device), ", ", report.threads,
                   report.threads == 1 ? " thread: " : " threads: ", result.kernels.size(),
                   " kernels by ", result.trials, " programs, ",
                   result.is_complete ? "all that was to be tried" : "until the time was over");
  if (result.dropped > 0) absl::StrAppend(&text, "; ", result.dropped, " schedules dropped");
  absl::StrAppend(&text, "\n");
  TextTable table({"STEP", ">STEPS", ">DEFAULT", ">TUNED", ">GAIN", "SCHEDULE"});
  for (const TunedKernel& kernel : result.kernels) {
    if (!IsChanged(kernel)) continue;
    table.Row({kernel.step, absl::StrCat(kernel.steps), Time(kernel.default_ns), Time(kernel.ns),
               Gain(kernel.default_ns, kernel.ns), kernel.schedule});
  }
  table.Row({"all steps", "", Time(result.default_ns), Time(result.ns),
             Gain(result.default_ns, result.ns), ""});
  absl::StrAppend(&text, table.Render(), Whole(report), "schedules are in ", Printable(report.file),
                  "\n");
  return text;
}

void TuningJson(JsonWriter& json, const TuningReport& report) {
  const TuningResult& result = report.result;
  json.BeginObject("tuning");
  json.Text("device", report.device);
  json.Integer("threads", report.threads);
  json.Text("file", report.file);
  json.Integer("trials", result.trials);
  json.Integer("dropped", result.dropped);
  json.Bool("complete", result.is_complete);
  json.Real("default_ns", result.default_ns);
  json.Real("tuned_ns", result.ns);
  json.BeginArray("kernels");
  for (const TunedKernel& kernel : result.kernels) {
    json.BeginObject();
    json.Text("kernel", kernel.kernel);
    json.Text("step", kernel.step);
    json.Integer("steps", kernel.steps);
    json.Integer("tried", kernel.tried);
    json.Text("default_schedule", kernel.default_schedule);
    json.Text("schedule", kernel.schedule);
    json.Real("default_ns", kernel.default_ns);
    json.Real("tuned_ns", kernel.ns);
    json.EndObject();
  }
  json.EndArray();
  WholeJson(json, result.whole);
  json.EndObject();
}

}  // namespace slipway::cli
