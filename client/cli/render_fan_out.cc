#include "client/cli/render_fan_out.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/render_parts.h"
#include "client/statistics.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

struct Measured {
  const FanOutRow* row;
  SampleStatistics statistics;
  double ratio = 1;  // Of the median to that of the fastest.
};

// The fastest first, of equal ones in the order of their ids.
std::vector<Measured> SortedBySpeed(const std::vector<FanOutRow>& rows) {
  std::vector<Measured> measured;
  for (const FanOutRow& row : rows) {
    if (!row.result.has_value() || row.result->samples_ns.empty()) continue;
    measured.push_back(
        {&row, Summarize(row.result->samples_ns, row.result->iterations_per_sample)});
  }
  std::sort(measured.begin(), measured.end(), [](const Measured& a, const Measured& b) {
    return std::pair(a.statistics.p50_ns.value, a.row->device) <
           std::pair(b.statistics.p50_ns.value, b.row->device);
  });
  for (Measured& each : measured) {
    const double fastest = measured.front().statistics.p50_ns.value;
    if (fastest > 0) each.ratio = each.statistics.p50_ns.value / fastest;
  }
  return measured;
}

std::vector<const FanOutRow*> Failed(const std::vector<FanOutRow>& rows) {
  std::vector<const FanOutRow*> failed;
  for (const FanOutRow& row : rows) {
    if (!row.error.ok()) failed.push_back(&row);
  }
  std::sort(failed.begin(), failed.end(),
            [](const FanOutRow* a, const FanOutRow* b) { return a->device < b->device; });
  return failed;
}

std::string Time(double ns) { return FormatTime(absl::Nanoseconds(ns)); }

std::string StateText(const FanOutRow& row) {
  if (row.result.has_value()) return "done";
  if (!row.error.ok()) return row.is_lost ? "lost" : "failed";
  if (row.job_id.empty()) return "compiling";
  return row.state == JobState::kRunning ? "measuring" : "waiting";
}

void MeasuredJson(JsonWriter& json, const Measured& each) {
  const BenchmarkResult& result = *each.row->result;
  json.Real("min_ns", each.statistics.min_ns);
  json.Real("p50_ns", each.statistics.p50_ns.value);
  IntervalJson(json, "p50_interval_ns", each.statistics.p50_ns.interval);
  json.Real("ratio", each.ratio);
  json.Text("device_target", result.device_target);
  json.Integer("samples", static_cast<int64_t>(result.samples_ns.size()));
  json.Integer("iterations_per_sample", result.iterations_per_sample);
  json.Integer("peak_memory_bytes", result.peak_memory_bytes);
  json.Bool("disturbed", result.disturbed);
}

void RowJson(JsonWriter& json, const FanOutRow& row, const Measured* measured) {
  json.BeginObject();
  json.Text("device", row.device);
  json.Text("target", row.target);
  json.Text("job", row.job_id);
  if (measured != nullptr) {
    MeasuredJson(json, *measured);
    json.Null("error");
  } else {
    json.Text("error", row.error.message());
    json.Bool("lost", row.is_lost);
    row.replaced_by.empty() ? json.Null("replaced_by") : json.Text("replaced_by", row.replaced_by);
  }
  json.EndObject();
}

}  // namespace

std::string RenderFanOut(const std::string& model, const std::vector<FanOutRow>& rows) {
  const std::vector<Measured> measured = SortedBySpeed(rows);
  std::string text;
  if (!measured.empty()) {
    TextTable table({"DEVICE", "TARGET", ">p50", ">MIN", ">RATIO", ">MEMORY", "DISTURBED"});
    for (const Measured& each : measured) {
      table.Row({each.row->device, each.row->target, Time(each.statistics.p50_ns.value),
                 Time(each.statistics.min_ns), absl::StrFormat("%.2f", each.ratio),
                 FormatBytes(each.row->result->peak_memory_bytes),
                 each.row->result->disturbed ? "yes" : "no"});
    }
    text = table.Render();
  }
  for (const FanOutRow* row : Failed(rows)) {
    absl::StrAppend(&text, Printable(row->device),
                    row->is_lost ? " was lost: " : " failed: ", Printable(row->error.message()),
                    row->replaced_by.empty() ? "" : "; in its place: ", row->replaced_by, "\n");
  }
  absl::StrAppend(&text, Printable(model), ": measured on ", measured.size(), " of ", rows.size(),
                  rows.size() == 1 ? " device\n" : " devices\n");
  return text;
}

std::string RenderFanOutJson(const std::string& model, const std::vector<FanOutRow>& rows) {
  const std::vector<Measured> measured = SortedBySpeed(rows);
  const std::vector<const FanOutRow*> failed = Failed(rows);
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Text("model", model);
  json.Integer("measured", static_cast<int64_t>(measured.size()));
  json.Integer("failed", static_cast<int64_t>(failed.size()));
  json.BeginArray("devices");
  for (const Measured& each : measured) RowJson(json, *each.row, &each);
  for (const FanOutRow* row : failed) RowJson(json, *row, nullptr);
  json.EndArray();
  json.EndObject();
  return json.Take();
}

ProgressText DescribeRow(const FanOutRow& row) {
  const bool has_stage = row.state == JobState::kRunning && !row.ended();
  return {.stage =
              absl::StrCat(Printable(row.device), ": ",
                           has_stage && !row.progress.stage.empty() ? Printable(row.progress.stage)
                                                                    : StateText(row),
                           row.error.ok() ? "" : ": ", Printable(row.error.message()))};
}

ProgressText DescribeAll(const std::string& model, const std::vector<FanOutRow>& rows) {
  std::vector<std::string> parts;
  for (const absl::string_view state :
       {"done", "failed", "lost", "measuring", "waiting", "compiling"}) {
    const auto count =
        absl::c_count_if(rows, [state](const FanOutRow& row) { return StateText(row) == state; });
    if (count > 0) parts.push_back(absl::StrCat(count, " ", state));
  }
  return {.stage = absl::StrCat(
              Printable(model), " on ", rows.size(),
              rows.size() == 1 ? " device: " : " devices: ", absl::StrJoin(parts, ", "))};
}

}  // namespace slipway::cli
