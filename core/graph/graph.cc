#include "core/graph/graph.h"

#include <algorithm>
#include <utility>

namespace slipway {
namespace {

bool SameValue(const Value& a, const Value& b) {
  if (a.name != b.name || a.type != b.type) return false;
  if (a.constant.has_value() != b.constant.has_value()) return false;
  return !a.constant.has_value() ||
         (a.constant->type() == b.constant->type() && a.constant->bytes() == b.constant->bytes());
}

bool SameNode(const Node& a, const Node& b) {
  return a.name == b.name && a.op == b.op && a.inputs == b.inputs && a.outputs == b.outputs &&
         a.attributes == b.attributes;
}

}  // namespace

ValueId Graph::AddValue(std::string value_name, std::optional<ValueType> type) {
  values.push_back(Value{std::move(value_name), std::move(type), std::nullopt});
  return static_cast<ValueId>(values.size()) - 1;
}

ValueId Graph::AddConstant(std::string value_name, Tensor tensor) {
  ValueType type = tensor.type();
  values.push_back(Value{std::move(value_name), std::move(type), std::move(tensor)});
  return static_cast<ValueId>(values.size()) - 1;
}

ValueId Graph::AddInput(std::string value_name, std::optional<ValueType> type) {
  const ValueId id = AddValue(std::move(value_name), std::move(type));
  inputs.push_back(id);
  return id;
}

std::string DisplayName(const Graph& graph, const Node& node) {
  if (!node.name.empty()) return node.name;
  for (const ValueId id : node.outputs) {
    if (id >= 0 && static_cast<size_t>(id) < graph.values.size()) return graph.values[id].name;
  }
  return "";
}

std::vector<ValueType> TypesOf(const Graph& graph, absl::Span<const ValueId> ids) {
  std::vector<ValueType> types;
  types.reserve(ids.size());
  for (const ValueId id : ids) {
    types.push_back(id == kNoValue ? ValueType() : *graph.values[id].type);
  }
  return types;
}

bool operator==(const Graph& a, const Graph& b) {
  return a.name == b.name && a.opset == b.opset && a.symbols == b.symbols &&
         a.constraints == b.constraints && a.inputs == b.inputs && a.outputs == b.outputs &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                    SameValue) &&
         std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), SameNode);
}

}  // namespace slipway
