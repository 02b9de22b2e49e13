#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/render.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"

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

std::string StepsTable(const std::vector<ArtifactSummary::Step>& steps) {
  TextTable table({">", "STEP", "OPERATORS"});
  for (size_t i = 0; i < steps.size(); ++i) {
    table.Row(
        {absl::StrCat(i), steps[i].name,
         steps[i].control.empty() ? absl::StrJoin(steps[i].operators, " ") : steps[i].control});
  }
  return table.Render("  ");
}

void StepsJson(JsonWriter& json, const std::vector<ArtifactSummary::Step>& steps) {
  json.BeginArray("steps");
  for (const ArtifactSummary::Step& step : steps) {
    json.BeginObject();
    json.Text("name", step.name);
    json.BeginArray("operators");
    for (const std::string& name : step.operators) json.Text("", name);
    json.EndArray();
    if (!step.control.empty()) json.Text("control", step.control);
    json.EndObject();
  }
  json.EndArray();
}

void TextsJson(JsonWriter& json, absl::string_view name, const std::vector<std::string>& texts) {
  json.BeginArray(name);
  for (const std::string& text : texts) json.Text("", text);
  json.EndArray();
}

// Rows of what static programs for one device have one of, or none.
void AddTables(const ArtifactSummary& artifact, TextTable& table) {
  for (const ArtifactSummary::Symbol& symbol : artifact.symbols) {
    table.Row({"symbol", absl::StrCat(symbol.name, ": ", symbol.min, " to ", symbol.max)});
  }
  if (artifact.code.size() > 1) {
    for (const ArtifactSummary::Code& code : artifact.code) {
      table.Row({"code for",
                 absl::StrCat(code.device, ": ", FormatBytes(code.bytes), " of ", code.kind, ", ",
                              code.kernels, " kernels", code.entries.empty() ? "" : ": ",
                              absl::StrJoin(code.entries, ", "))});
    }
  }
  if (artifact.spaces.size() > 1) {
    for (size_t i = 0; i < artifact.spaces.size(); ++i) {
      const ArtifactSummary::Space& space = artifact.spaces[i];
      table.Row(
          {"space", absl::StrCat(i, ": ", space.device, ", arena ", FormatBytes(space.arena_bytes),
                                 space.shared_with.empty() ? "" : ", shared with ",
                                 absl::StrJoin(space.shared_with, ", "))});
    }
  }
}

void TablesJson(JsonWriter& json, const ArtifactSummary& artifact) {
  json.BeginArray("symbols");
  for (const ArtifactSummary::Symbol& symbol : artifact.symbols) {
    json.BeginObject();
    json.Text("name", symbol.name);
    json.Integer("min", symbol.min);
    json.Integer("max", symbol.max);
    json.EndObject();
  }
  json.EndArray();
  json.BeginArray("code");
  for (const ArtifactSummary::Code& code : artifact.code) {
    json.BeginObject();
    json.Text("kind", code.kind);
    json.Text("device", code.device);
    json.Integer("bytes", code.bytes);
    json.Integer("kernels", code.kernels);
    TextsJson(json, "entries", code.entries);
    json.EndObject();
  }
  json.EndArray();
  json.BeginArray("spaces");
  for (const ArtifactSummary::Space& space : artifact.spaces) {
    json.BeginObject();
    json.Text("device", space.device);
    TextsJson(json, "shared_with", space.shared_with);
    json.Integer("arena_bytes", space.arena_bytes);
    json.EndObject();
  }
  json.EndArray();
  json.BeginArray("functions");
  for (const ArtifactSummary::Function& function : artifact.functions) {
    json.BeginObject();
    json.Text("name", function.name);
    json.Bool("is_entry", function.is_entry);
    PortsJson(json, "inputs", function.inputs);
    PortsJson(json, "outputs", function.outputs);
    StepsJson(json, function.steps);
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
  AddTables(artifact, table);
  std::string text = absl::StrCat(table.Render("", false), StepsTable(artifact.steps));
  for (const ArtifactSummary::Function& function : artifact.functions) {
    absl::StrAppend(&text, function.is_entry ? "entry " : "function ", function.name, "\n");
    for (const NamedType& input : function.inputs) {
      absl::StrAppend(&text, "  input ", input.name, ": ", ToString(input.type), "\n");
    }
    for (const NamedType& output : function.outputs) {
      absl::StrAppend(&text, "  output ", output.name, ": ", ToString(output.type), "\n");
    }
    absl::StrAppend(&text, StepsTable(function.steps));
  }
  return text;
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
  StepsJson(json, artifact.steps);
  TablesJson(json, artifact);
  json.EndObject();
  return json.Take();
}

}  // namespace slipway::cli
