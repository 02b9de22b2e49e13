#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/percent.h"
#include "client/cli/render.h"
#include "client/cli/render_parts.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

// What the ratio's interval has to do with the verdict.
std::string Reason(const ComparisonReport& report) {
  const Comparison& comparison = report.comparison;
  const std::string margin = FormatPercent(report.margin);
  if (!comparison.is_certain) {
    return absl::StrCat("nothing else was shown in the time; a difference of more than ", margin,
                        " is possible");
  }
  return comparison.verdict == Verdict::kSame ? absl::StrCat("they differ by less than ", margin)
                                              : absl::StrCat("they differ by more than ", margin);
}

void SideJson(JsonWriter& json, absl::string_view side, const ComparisonReport::Program& program,
              double p50_ns) {
  json.BeginObject(side);
  json.Text("name", program.name);
  json.Text("artifact_digest", program.artifact.hex());
  json.Text("target", program.target);
  json.Real("p50_ns", p50_ns);
  json.EndObject();
}

}  // namespace

std::string RenderComparison(const ComparisonReport& report) {
  const Comparison& comparison = report.comparison;
  TextTable table({"", "PROGRAM", "TARGET", ">p50"});
  const auto row = [&](const char* side, const ComparisonReport::Program& program, double ns) {
    table.Row({side, program.name, program.target, FormatTime(absl::Nanoseconds(ns))});
  };
  row("A", report.a, comparison.a_ns);
  row("B", report.b, comparison.b_ns);
  std::string text = table.Render();
  absl::StrAppend(&text, "on ", Printable(report.device), ", ", report.threads,
                  report.threads == 1 ? " thread, " : " threads, ", comparison.cycles,
                  " cycles of A B B A B A A B\n");
  absl::StrAppendFormat(&text, "B takes %.4f times as long as A", comparison.ratio.value);
  if (const auto& interval = comparison.ratio.interval; interval.has_value()) {
    absl::StrAppendFormat(&text, " (%g %%: %.4f to %.4f)", kComparisonConfidence * 100,
                          interval->low, interval->high);
  }
  absl::StrAppend(&text, "\n", Name(comparison.verdict), ": ", Reason(report), "\n");
  return text;
}

std::string RenderComparisonJson(const ComparisonReport& report) {
  const Comparison& comparison = report.comparison;
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Text("verdict", Name(comparison.verdict));
  json.Bool("certain", comparison.is_certain);
  json.Real("ratio", comparison.ratio.value);
  IntervalJson(json, "ratio_interval", comparison.ratio.interval);
  json.Real("confidence", kComparisonConfidence);
  json.Real("margin", report.margin);
  SideJson(json, "a", report.a, comparison.a_ns);
  SideJson(json, "b", report.b, comparison.b_ns);
  json.Text("device", report.device);
  json.Integer("threads", report.threads);
  json.Integer("cycles", comparison.cycles);
  json.Real("lag1_autocorrelation", comparison.lag1_autocorrelation);
  json.EndObject();
  return json.Take();
}

}  // namespace slipway::cli
