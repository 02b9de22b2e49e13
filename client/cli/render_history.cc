#include "client/cli/render_history.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/cli/render_parts.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

// What fits into a line, with room for the least and greatest behind it.
constexpr size_t kMaxBars = 60;

std::string Nanoseconds(double ns) { return FormatTime(absl::Nanoseconds(ns)); }

// What changed at an entry, if there is one before it.
HistoryChange ChangeAt(const HistorySeries& series, size_t i) {
  return i == 0 ? HistoryChange() : ChangeBetween(series.entries[i - 1], series.entries[i]);
}

std::string ChangeText(const HistoryChange& change) {
  std::vector<std::string> parts;
  if (change.device) parts.push_back("device");
  if (change.compiler) parts.push_back("compiler");
  if (change.artifact) parts.push_back("artifact");
  if (change.agent) parts.push_back("agent");
  return absl::StrJoin(parts, " ");
}

// One for a bar: what weighs most.
char MarkOf(const HistoryChange& change) {
  return change.device     ? 'd'
         : change.compiler ? 'c'
         : change.artifact ? 'a'
         : change.agent    ? 'v'
                           : ' ';
}

// How much slower than the entry before, as "+1.2 %"; empty for the first.
std::string DifferenceText(const HistorySeries& series, size_t i) {
  if (i == 0) return "";
  const double before = series.entries[i - 1].summary.p50_ns;
  const double now = series.entries[i].summary.p50_ns;
  return absl::StrFormat("%+.1f %%", 100 * (now / before - 1));
}

std::string Bars(const HistorySeries& series) {
  const size_t first = series.entries.size() - std::min(series.entries.size(), kMaxBars);
  std::vector<double> medians;
  std::string marks;
  for (size_t i = first; i < series.entries.size(); ++i) {
    medians.push_back(series.entries[i].summary.p50_ns);
    marks += MarkOf(ChangeAt(series, i));
  }
  const auto [least, most] = std::minmax_element(medians.begin(), medians.end());
  std::string text = absl::StrCat("  ", Sparkline(medians), "  ", Nanoseconds(*least), " to ",
                                  Nanoseconds(*most), "\n");
  marks.erase(marks.find_last_not_of(' ') + 1);
  if (marks.empty()) return text;
  return absl::StrCat(
      text, "  ", marks,
      "\n  (what changed: a artifact, c compiler, d device, v version of the agent)\n");
}

std::string SeriesText(const HistorySeries& series) {
  std::string text =
      absl::StrCat(Printable(series.model.empty() ? "without a name" : series.model), " for ",
                   Printable(series.target), " on ", Printable(series.device), ", ", series.threads,
                   series.threads == 1 ? " thread" : " threads", ", ", series.entries.size(),
                   series.entries.size() == 1 ? " result\n" : " results\n", Bars(series));
  const bool with_tags = std::any_of(series.entries.begin(), series.entries.end(),
                                     [](const HistoryEntry& e) { return !e.tags.empty(); });
  std::vector<std::string> titles = {"MEASURED",  ">MEDIAN",  ">BEFORE", ">MIN",   ">SAMPLES",
                                     "DISTURBED", "ARTIFACT", "RESULT",  "CHANGED"};
  if (with_tags) titles.push_back("TAGS");
  TextTable table(titles);
  for (size_t i = 0; i < series.entries.size(); ++i) {
    const HistoryEntry& entry = series.entries[i];
    std::vector<std::string> cells = {
        FormatWallTime(entry.end_time),     Nanoseconds(entry.summary.p50_ns),
        DifferenceText(series, i),          Nanoseconds(entry.summary.min_ns),
        absl::StrCat(entry.summary.count),  entry.result.disturbed ? "yes" : "no",
        entry.artifact.hex().substr(0, 12), entry.id,
        ChangeText(ChangeAt(series, i))};
    if (with_tags) cells.push_back(TagsText(entry.tags));
    table.Row(std::move(cells));
  }
  return text + table.Render("  ");
}

// `change` where there is an entry before it to compare with.
void EntryJson(JsonWriter& json, absl::string_view name, const HistoryEntry& entry,
               const std::optional<HistoryChange>& change) {
  json.BeginObject(name);
  json.Text("id", entry.id);
  json.Text("owner", entry.owner);
  TagsJson(json, entry.tags);
  json.Text("artifact_digest", entry.artifact.hex());
  json.Text("compile_key", entry.compile_key);
  json.BeginArray("tools");
  for (const std::string& tool : entry.tools) json.Text("", tool);
  json.EndArray();
  json.Text("agent_version", entry.agent_version);
  json.Text("server_version", entry.server_version);
  json.BeginObject("device");
  json.Text("id", entry.device.id);
  json.Text("target", entry.device.target);
  json.Text("model", entry.device.model);
  json.Text("os", entry.device.os);
  json.Integer("cores", entry.device.cores);
  json.Integer("memory_bytes", entry.device.memory_bytes);
  json.EndObject();
  if (change.has_value()) {
    json.BeginObject("changed");
    json.Bool("artifact", change->artifact);
    json.Bool("compiler", change->compiler);
    json.Bool("agent", change->agent);
    json.Bool("device", change->device);
    json.EndObject();
  }
  json.Integer("create_time_ns", absl::ToUnixNanos(entry.create_time));
  json.Integer("end_time_ns", absl::ToUnixNanos(entry.end_time));
  json.Integer("samples", entry.summary.count);
  json.Integer("iterations_per_sample", entry.result.iterations_per_sample);
  json.Real("min_ns", entry.summary.min_ns);
  json.Real("p50_ns", entry.summary.p50_ns);
  json.Real("p90_ns", entry.summary.p90_ns);
  json.Real("max_ns", entry.summary.max_ns);
  if (!entry.result.samples_ns.empty()) json.Integers("samples_ns", entry.result.samples_ns);
  json.Integer("load_cold_ns", entry.result.load_cold_ns);
  json.Integer("load_warm_ns", entry.result.load_warm_ns);
  json.Integer("first_run_ns", entry.result.first_run_ns);
  json.Integer("peak_memory_bytes", entry.result.peak_memory_bytes);
  json.Bool("disturbed", entry.result.disturbed);
  json.Integer("disturbed_millis", entry.result.disturbed_millis);
  MachineJson(json, "before", entry.result.before);
  MachineJson(json, "after", entry.result.after);
  json.EndObject();
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

std::string CsvLine(const std::vector<std::string>& fields) {
  return absl::StrCat(
      absl::StrJoin(fields, ",",
                    [](std::string* out, const std::string& field) { *out += CsvField(field); }),
      "\r\n");
}

}  // namespace

std::string Sparkline(absl::Span<const double> values) {
  static constexpr const char* kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr int kHighest = 7;
  if (values.empty()) return "";
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double range = *most - *least;
  std::string bars;
  for (const double value : values) {
    const double share = range > 0 ? (value - *least) / range : 0.5;
    bars += kBars[static_cast<int>(share * kHighest + 0.5)];
  }
  return bars;
}

std::string RenderHistory(const std::vector<HistorySeries>& all) {
  if (all.empty()) return "no results\n";
  return absl::StrJoin(all, "\n", [](std::string* out, const HistorySeries& series) {
    out->append(SeriesText(series));
  });
}

std::string RenderHistoryJson(const std::vector<HistorySeries>& all) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.BeginArray("series");
  for (const HistorySeries& series : all) {
    json.BeginObject();
    json.Text("model", series.model);
    json.Text("target", series.target);
    json.Text("device", series.device);
    json.Integer("threads", series.threads);
    json.Text("conditions", series.conditions);
    json.BeginArray("results");
    for (size_t i = 0; i < series.entries.size(); ++i) {
      EntryJson(json, "", series.entries[i], ChangeAt(series, i));
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

std::string RenderRecord(const CheckedRecord& record) {
  const HistoryEntry& entry = record.entry;
  TextTable table({"", ""});
  table.Row({"signed", FormatWallTime(record.signed_at)});
  table.Row({"result", entry.id});
  table.Row({"owner", entry.owner});
  if (!entry.tags.empty()) table.Row({"tags", TagsText(entry.tags)});
  table.Row({"model", entry.model});
  table.Row({"artifact", entry.artifact.hex()});
  table.Row({"target", entry.target});
  table.Row({"made by", absl::StrJoin(entry.tools, ", ")});
  table.Row(
      {"device",
       absl::StrCat(entry.device.id, ", ", entry.device.model, ", ", entry.device.cores, " cores, ",
                    FormatBytes(entry.device.memory_bytes), ", ", entry.device.os)});
  table.Row(
      {"versions", absl::StrCat("agent ", entry.agent_version, ", server ", entry.server_version)});
  table.Row(
      {"measured", absl::StrCat(FormatWallTime(entry.result.start_time), ", ", entry.result.threads,
                                entry.result.threads == 1 ? " thread" : " threads")});
  table.Row(
      {"samples",
       absl::StrCat(entry.result.samples_ns.size(), " of ", entry.result.iterations_per_sample,
                    entry.result.iterations_per_sample == 1 ? " call" : " calls")});
  table.Row({"median", Nanoseconds(entry.summary.p50_ns)});
  table.Row({"least", Nanoseconds(entry.summary.min_ns)});
  table.Row({"disturbed", entry.result.disturbed ? "yes" : "no"});
  return absl::StrCat("the record is as its server signed it\n", table.Render("", false));
}

std::string RenderRecordJson(const CheckedRecord& record) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Integer("signed_at_ns", absl::ToUnixNanos(record.signed_at));
  json.Text("model", record.entry.model);
  json.Text("target", record.entry.target);
  json.Integer("threads", record.entry.result.threads);
  json.Text("conditions", record.entry.conditions);
  EntryJson(json, "result", record.entry, std::nullopt);
  json.EndObject();
  return json.Take();
}

std::string RenderHistoryCsv(const std::vector<HistorySeries>& all) {
  std::string text =
      CsvLine({"id",        "ended_at",   "model",        "target",       "device",
               "threads",   "conditions", "samples",      "min_ns",       "p50_ns",
               "p90_ns",    "max_ns",     "first_run_ns", "load_cold_ns", "peak_memory_bytes",
               "disturbed", "artifact",   "compile_key",  "tools",        "agent_version",
               "tags",      "owner"});
  for (const HistorySeries& series : all) {
    for (const HistoryEntry& entry : series.entries) {
      text +=
          CsvLine({entry.id,
                   absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", entry.end_time, absl::UTCTimeZone()),
                   series.model,
                   series.target,
                   series.device,
                   absl::StrCat(series.threads),
                   series.conditions,
                   absl::StrCat(entry.summary.count),
                   absl::StrFormat("%.17g", entry.summary.min_ns),
                   absl::StrFormat("%.17g", entry.summary.p50_ns),
                   absl::StrFormat("%.17g", entry.summary.p90_ns),
                   absl::StrFormat("%.17g", entry.summary.max_ns),
                   absl::StrCat(entry.result.first_run_ns),
                   absl::StrCat(entry.result.load_cold_ns),
                   absl::StrCat(entry.result.peak_memory_bytes),
                   entry.result.disturbed ? "true" : "false",
                   entry.artifact.hex(),
                   entry.compile_key,
                   absl::StrJoin(entry.tools, "; "),
                   entry.agent_version,
                   TagsText(entry.tags),
                   entry.owner});
    }
  }
  return text;
}

}  // namespace slipway::cli
