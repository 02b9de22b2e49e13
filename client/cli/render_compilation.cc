#include "absl/strings/str_cat.h"
#include "client/cli/render.h"
#include "client/cli/render_parts.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

std::string Times(const std::vector<StageTime>& times) {
  TextTable table({"", ">", ">"});
  for (const StageTime& time : times) {
    table.Row({time.name, FormatTime(time.duration),
               time.nodes_after > 0 ? absl::StrCat(time.nodes_after, " nodes") : ""});
  }
  std::string text = table.Render("  ", false);
  for (const StageTime& time : times) {
    for (const std::string& note : time.notes) {
      absl::StrAppend(&text, "  ", Printable(time.name), ": ", Printable(note), "\n");
    }
  }
  return text;
}

void TimesJson(JsonWriter& json, absl::string_view name, const std::vector<StageTime>& times) {
  json.BeginArray(name);
  for (const StageTime& time : times) {
    json.BeginObject();
    json.Text("name", time.name);
    json.Integer("ns", absl::ToInt64Nanoseconds(time.duration));
    json.Integer("nodes_after", time.nodes_after);
    if (!time.notes.empty()) {
      json.BeginArray("notes");
      for (const std::string& note : time.notes) json.Text("", note);
      json.EndArray();
    }
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string RenderCompilation(const Job& job, absl::Duration total) {
  const Compilation& c = *job.compilation;
  std::string text =
      absl::StrCat(c.cached ? "found" : "compiled", " ", Printable(job.model), " for ",
                   Printable(job.target), " in ", FormatTime(total),
                   c.cached ? " (cached; the times below are of the first time)" : "", "\n");
  if (!c.stages.empty()) absl::StrAppend(&text, "stages\n", Times(c.stages));
  if (!c.passes.empty()) absl::StrAppend(&text, "passes\n", Times(c.passes));
  TextTable table({"", ""});
  table.Row({"kernels", absl::StrCat(c.kernels, " (", c.kernels_compiled, " compiled, ",
                                     c.kernels_cached, " from the cache)")});
  table.Row({"code", FormatBytes(c.code_bytes)});
  table.Row({"constants", FormatBytes(c.constant_bytes)});
  table.Row({"arena", FormatBytes(c.arena_bytes)});
  if (c.integer_products > 0 || !c.float_products.empty()) {
    table.Row({"products", ProductsText(c)});
  }
  table.Row({"artifact", absl::StrCat(FormatBytes(c.artifact_bytes), ", ", c.artifact.hex())});
  absl::StrAppend(&text, table.Render("", false));
  return text;
}

std::string RenderCompilationJson(const Job& job, absl::Duration total,
                                  const std::optional<TuningReport>& tuning) {
  const Compilation& c = *job.compilation;
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Text("job", job.id);
  json.Text("model", job.model);
  TagsJson(json, job.tags);
  json.Text("target", job.target);
  json.Text("artifact_digest", c.artifact.hex());
  json.Text("compile_key", c.compile_key);
  json.Bool("cached", c.cached);
  json.Integer("total_ns", absl::ToInt64Nanoseconds(total));
  TimesJson(json, "stages", c.stages);
  TimesJson(json, "passes", c.passes);
  json.Integer("kernels", c.kernels);
  json.Integer("kernels_compiled", c.kernels_compiled);
  json.Integer("kernels_cached", c.kernels_cached);
  json.Integer("code_bytes", c.code_bytes);
  json.Integer("constant_bytes", c.constant_bytes);
  json.Integer("arena_bytes", c.arena_bytes);
  json.Integer("artifact_bytes", c.artifact_bytes);
  if (c.integer_products > 0 || !c.float_products.empty()) ProductsJson(json, c);
  if (c.kernels_recorded.has_value()) {
    json.Integer("records", c.records);
    json.Integer("kernels_recorded", *c.kernels_recorded);
  }
  if (!c.printed_graph.empty()) json.Text("printed_graph", c.printed_graph);
  if (tuning.has_value()) TuningJson(json, *tuning);
  json.EndObject();
  return json.Take();
}

}  // namespace slipway::cli
