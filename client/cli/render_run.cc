#include "absl/strings/str_cat.h"
#include "client/cli/render.h"
#include "client/cli/render_check.h"
#include "client/cli/render_conditions.h"
#include "client/cli/render_parts.h"
#include "client/cli/tensor_summary.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

std::string Timings(const AttemptTimings& timings) {
  return absl::StrCat("run ", FormatTime(timings.run), ", load ", FormatTime(timings.load),
                      ", start ", FormatTime(timings.spawn), ", fetch ", FormatTime(timings.fetch));
}

}  // namespace

std::string RenderRun(const Job& job, const std::vector<WrittenOutput>& outputs,
                      const std::optional<OutputCheck>& check) {
  std::string text =
      absl::StrCat("ran ", job.subject.empty() ? "" : absl::StrCat(Printable(job.subject), " "),
                   "on ", Printable(job.run->device), ": ", Timings(job.run->timings), "\n");
  TextTable table({"OUTPUT", "TYPE", "SUMMARY"});
  for (const WrittenOutput& written : outputs) {
    const Tensor& tensor = written.output.tensor;
    table.Row({written.output.name, ToString(tensor.type()), Summary(tensor)});
  }
  text += table.Render();
  for (const WrittenOutput& written : outputs) {
    if (written.file.empty()) continue;
    absl::StrAppend(&text, "wrote ", Printable(written.output.name), " to ", written.file, "\n");
  }
  const int64_t run_ns = absl::ToInt64Nanoseconds(job.run->timings.run);
  text += ClockRemark({run_ns}, job.run->clock_resolution_ns, "runs is");
  if (check.has_value()) text += RenderCheck(*check);
  return text;
}

std::string RenderRunJson(const Job& job, const std::vector<WrittenOutput>& outputs,
                          const std::optional<OutputCheck>& check) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Text("job", job.id);
  json.Text("model", job.subject);
  TagsJson(json, job.tags);
  json.Text("device", job.run->device);
  json.Text("artifact_digest", job.artifact.hex());
  json.Integer("run_ns", absl::ToInt64Nanoseconds(job.run->timings.run));
  json.Integer("load_ns", absl::ToInt64Nanoseconds(job.run->timings.load));
  json.Integer("clock_resolution_ns", job.run->clock_resolution_ns);
  json.BeginArray("outputs");
  for (const WrittenOutput& written : outputs) {
    json.BeginObject();
    TensorJson(json, written.output, written.file);
    json.EndObject();
  }
  json.EndArray();
  if (check.has_value()) CheckJson(json, *check);
  json.EndObject();
  return json.Take();
}

}  // namespace slipway::cli
