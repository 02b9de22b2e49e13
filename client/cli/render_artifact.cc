#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/json_writer.h"
#include "client/cli/render.h"
#include "client/cli/text_table.h"

namespace slipway::cli {
namespace {

void PortsJson(JsonWriter& json, absl::string_view name, const std::vector<NamedType>& ports) {
  json.BeginArray(name);
  for (const NamedType& port : ports) {
    json.BeginObject();
    json.Text("name", port.name);
    json.Text("dtype", Name(port.type.dtype));
    json.BeginArray("shape");
    for (const PortExtent& extent : port.type.extents) {
      if (extent.is_known()) {
        json.Integer("", extent.min);
      } else {
        json.Text("", extent.text);
      }
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string RenderArtifact(const ArtifactSummary& artifact) {
  TextTable table({"", ""});
  table.Row({"artifact", artifact.digest.hex()});
  table.Row({"model", artifact.name});
  table.Row({"target", artifact.target});
  table.Row({"compile key", artifact.compile_key});
  for (const auto& [name, version] : artifact.tools) {
    table.Row({"made by", absl::StrCat(name, " ", version)});
  }
  for (const auto& input : artifact.inputs) {
    table.Row({"input", absl::StrCat(input.name, ": ", ToString(input.type))});
  }
  for (const auto& output : artifact.outputs) {
    table.Row({"output", absl::StrCat(output.name, ": ", ToString(output.type))});
  }
  table.Row({"kernels", absl::StrCat(artifact.kernels)});
  table.Row({"code", FormatBytes(artifact.code_bytes)});
  table.Row({"constants", FormatBytes(artifact.constant_bytes)});
  table.Row({"arena", FormatBytes(artifact.arena_bytes)});
  table.Row({"size", FormatBytes(artifact.artifact_bytes)});
  std::string text = table.Render("", false);
  TextTable steps({">", "STEP", "OPERATORS"});
  for (size_t i = 0; i < artifact.steps.size(); ++i) {
    steps.Row(
        {absl::StrCat(i), artifact.steps[i].name, absl::StrJoin(artifact.steps[i].operators, " ")});
  }
  return absl::StrCat(text, steps.Render("  "));
}

std::string RenderArtifactJson(const ArtifactSummary& artifact) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Text("artifact_digest", artifact.digest.hex());
  json.Text("model", artifact.name);
  json.Text("target", artifact.target);
  json.Text("compile_key", artifact.compile_key);
  json.BeginObject("versions");
  for (const auto& [name, version] : artifact.tools) json.Text(name, version);
  json.EndObject();
  PortsJson(json, "inputs", artifact.inputs);
  PortsJson(json, "outputs", artifact.outputs);
  json.Integer("kernels", artifact.kernels);
  json.Integer("code_bytes", artifact.code_bytes);
  json.Integer("constant_bytes", artifact.constant_bytes);
  json.Integer("arena_bytes", artifact.arena_bytes);
  json.Integer("artifact_bytes", artifact.artifact_bytes);
  json.BeginArray("steps");
  for (const ArtifactSummary::Step& step : artifact.steps) {
    json.BeginObject();
    json.Text("name", step.name);
    json.BeginArray("operators");
    for (const std::string& name : step.operators) json.Text("", name);
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace slipway::cli
