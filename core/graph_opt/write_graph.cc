#include "core/graph_opt/write_graph.h"

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/json_writer.h"
#include "core/base/status_macros.h"
#include "core/exporters/onnx/onnx_exporter.h"
#include "core/graph/edit.h"
#include "core/graph/text.h"
#include "core/wire/graph/graph_proto.h"

namespace slipway {
namespace {

constexpr int kJsonSchema = 1;

std::string NameOf(const Graph& graph, ValueId id) {
  return id == kNoValue ? "" : graph.values[id].name;
}

void WriteNames(absl::string_view field, const Graph& graph, const std::vector<ValueId>& ids,
                JsonWriter& json) {
  json.BeginArray(field);
  for (const ValueId id : ids) json.Text("", NameOf(graph, id));
  json.EndArray();
}

void WriteAttribute(const std::string& name, const Attribute& value, JsonWriter& json);

void WriteGraphBody(const Graph& graph, JsonWriter& json) {
  json.Text("name", graph.name);
  json.Integer("opset", graph.opset);
  json.BeginArray("symbols");
  for (const Symbol& symbol : graph.symbols) {
    json.BeginObject();
    json.Text("name", symbol.name);
    json.Integer("min", symbol.min);
    json.Integer("max", symbol.max);
    json.EndObject();
  }
  json.EndArray();
  json.BeginArray("constraints");
  for (const Constraint& constraint : graph.constraints) {
    json.BeginObject();
    json.Text("holds", ToString(constraint));
    json.Text("user", constraint.user);
    json.EndObject();
  }
  json.EndArray();
  WriteNames("inputs", graph, graph.inputs, json);
  WriteNames("outputs", graph, graph.outputs, json);
  json.BeginArray("values");
  for (const Value& value : graph.values) {
    json.BeginObject();
    json.Text("name", value.name);
    if (value.type.has_value()) json.Text("type", ToString(*value.type));
    if (value.constant.has_value()) json.Integer("constant_bytes", value.constant->byte_size());
    json.EndObject();
  }
  json.EndArray();
  json.BeginArray("nodes");
  for (const Node& node : graph.nodes) {
    json.BeginObject();
    json.Text("name", DisplayName(graph, node));
    json.Text("op", node.op);
    WriteNames("inputs", graph, node.inputs, json);
    WriteNames("outputs", graph, node.outputs, json);
    json.BeginObject("attributes");
    for (const auto& [name, value] : node.attributes) WriteAttribute(name, value, json);
    json.EndObject();
    json.EndObject();
  }
  json.EndArray();
}

void WriteAttribute(const std::string& name, const Attribute& value, JsonWriter& json) {
  switch (KindOf(value)) {
    case AttributeKind::kInt:
      return json.Integer(name, std::get<int64_t>(value));
    case AttributeKind::kFloat:
      return json.Real(name, std::get<float>(value));
    case AttributeKind::kString:
      return json.Text(name, std::get<std::string>(value));
    case AttributeKind::kInts:
      return json.Integers(name, std::get<std::vector<int64_t>>(value));
    case AttributeKind::kFloats:
      json.BeginArray(name);
      for (const float number : std::get<std::vector<float>>(value)) json.Real("", number);
      return json.EndArray();
    case AttributeKind::kStrings:
      json.BeginArray(name);
      for (const std::string& text : std::get<std::vector<std::string>>(value)) json.Text("", text);
      return json.EndArray();
    case AttributeKind::kTensor:
      return json.Text(name, ToString(std::get<Tensor>(value).type()));
    case AttributeKind::kGraph:
      json.BeginObject(name);
      WriteGraphBody(*std::get<std::shared_ptr<const Graph>>(value), json);
      return json.EndObject();
  }
}

std::string Label(absl::string_view text) {
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text), "\"");
}

}  // namespace

std::string GraphAsJson(const Graph& graph) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", kJsonSchema);
  WriteGraphBody(graph, json);
  json.EndObject();
  return json.Take();
}

std::string GraphAsDot(const Graph& graph) {
  std::string dot = absl::StrCat("digraph ", Label(graph.name), " {\n  node [shape=box];\n");
  const std::vector<NodeId> producers = Producers(graph);
  const auto end = [&producers](ValueId id) {
    return producers[id] == kNoNode ? absl::StrCat("v", id) : absl::StrCat("n", producers[id]);
  };
  const auto arrow = [&](ValueId id, absl::string_view to) {
    const Value& value = graph.values[id];
    const std::string type = value.type.has_value() ? ToString(*value.type) : "?";
    absl::StrAppend(&dot, "  ", end(id), " -> ", to, " [label=", Label(type), "];\n");
  };
  for (const ValueId id : graph.inputs) {
    absl::StrAppend(&dot, "  v", id, " [shape=ellipse, label=", Label(graph.values[id].name),
                    "];\n");
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    absl::StrAppend(&dot, "  n", n,
                    " [label=", Label(absl::StrCat(node.op, "\n", DisplayName(graph, node))),
                    "];\n");
    for (const ValueId id : node.inputs) {
      if (id == kNoValue || graph.values[id].constant.has_value()) continue;
      arrow(id, absl::StrCat("n", n));
    }
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const ValueId id = graph.outputs[i];
    absl::StrAppend(&dot, "  o", i, " [shape=ellipse, label=", Label(graph.values[id].name),
                    "];\n");
    if (!graph.values[id].constant.has_value()) arrow(id, absl::StrCat("o", i));
  }
  return dot + "}\n";
}

absl::StatusOr<std::string> WriteGraph(const Graph& graph, const OperatorRegistry& registry,
                                       const WriteGraphOptions& options) {
  if (options.to == "text") {
    PrintOptions print;
    print.max_elements = options.max_elements;
    return Print(graph, print);
  }
  if (options.to == "json") return GraphAsJson(graph);
  if (options.to == "dot") return GraphAsDot(graph);
  if (options.to == "proto") return FormatGraphFile(graph);
  if (options.to == "onnx") {
    SLIPWAY_ASSIGN_OR_RETURN(OnnxExport files,
                             ExportOnnx(graph, registry, {.opset = options.opset}));
    return std::move(files.main);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--to \"", options.to, "\" is unknown; known are text, json, dot, onnx and proto"));
}

}  // namespace slipway
