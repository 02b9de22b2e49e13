#include "core/passes/graph_rewriter.h"

#include <numeric>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "core/passes/limits.h"

namespace slipway {

GraphRewriter::GraphRewriter(Graph graph, const OperatorRegistry& registry)
    : registry_(registry), graph_(std::move(graph)), names_(graph_) {
  replacement_.resize(graph_.values.size());
  std::iota(replacement_.begin(), replacement_.end(), 0);
  producer_.assign(graph_.values.size(), kNoNode);
  uses_.assign(graph_.values.size(), 0);
  for (const Node& node : graph_.nodes) {
    for (const ValueId id : node.inputs) {
      if (id != kNoValue) ++uses_[id];
    }
  }
  for (const ValueId id : graph_.outputs) ++uses_[id];
}

std::vector<Node> GraphRewriter::TakeNodes() {
  std::vector<Node> nodes = std::move(graph_.nodes);
  graph_.nodes.clear();
  graph_.nodes.reserve(nodes.size());
  return nodes;
}

const Tensor* GraphRewriter::constant(ValueId id) const {
  if (id == kNoValue || !graph_.values[id].constant.has_value()) return nullptr;
  return &*graph_.values[id].constant;
}

ValueId GraphRewriter::Resolve(ValueId id) const {
  while (id != kNoValue && replacement_[id] != id) id = replacement_[id];
  return id;
}

void GraphRewriter::Resolve(Node& node) const {
  for (ValueId& id : node.inputs) id = Resolve(id);
}

Node* GraphRewriter::Producer(ValueId id) {
  if (id == kNoValue || producer_[id] == kNoNode) return nullptr;
  return &graph_.nodes[producer_[id]];
}

void GraphRewriter::SetInput(Node& node, size_t index, ValueId value) {
  if (node.inputs.size() <= index) node.inputs.resize(index + 1, kNoValue);
  if (node.inputs[index] != kNoValue) --uses_[node.inputs[index]];
  node.inputs[index] = value;
  if (value != kNoValue) ++uses_[value];
}

std::string GraphRewriter::MadeName(absl::string_view wanted) {
  return names_.Make(Utf8Prefix(wanted, kMaxMadeNameBytes));
}

ValueId GraphRewriter::Track(ValueId id) {
  replacement_.push_back(id);
  uses_.push_back(0);
  producer_.push_back(kNoNode);
  return id;
}

void GraphRewriter::Emit(Node node) {
  for (const ValueId id : node.outputs) {
    if (id != kNoValue) producer_[id] = static_cast<NodeId>(graph_.nodes.size());
  }
  graph_.nodes.push_back(std::move(node));
}

void GraphRewriter::Keep(Node node) { Emit(std::move(node)); }

void GraphRewriter::Keep(Node node, std::vector<ValueId> inputs) {
  Release(node);
  node.inputs = std::move(inputs);
  for (const ValueId id : node.inputs) {
    if (id != kNoValue) ++uses_[id];
  }
  Emit(std::move(node));
}

absl::StatusOr<ValueId> GraphRewriter::Add(absl::string_view op, std::vector<ValueId> inputs,
                                           Attributes attributes, absl::string_view name) {
  Node node;
  node.name = std::string(Utf8Prefix(name, kMaxMadeNameBytes));
  node.op = std::string(op);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  const ValueId output = Track(graph_.AddValue(MadeName(name)));
  node.outputs = {output};
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<ValueType> types, InferNodeTypes(graph_, node, registry_));
  graph_.values[output].type = std::move(types.front());
  for (const ValueId id : node.inputs) {
    if (id != kNoValue) ++uses_[id];
  }
  Emit(std::move(node));
  return output;
}

ValueId GraphRewriter::Constant(absl::string_view name, Tensor tensor) {
  return Track(graph_.AddConstant(MadeName(name), std::move(tensor)));
}

ValueId GraphRewriter::AddValue(absl::string_view name, ValueType type) {
  return Track(graph_.AddValue(MadeName(name), std::move(type)));
}

void GraphRewriter::Release(const Node& node) {
  for (const ValueId id : node.inputs) {
    if (id != kNoValue) --uses_[id];
  }
}

void GraphRewriter::ReplaceOutput(ValueId output, ValueId value) {
  value = Resolve(value);
  SLIPWAY_CHECK(output != value, "a value cannot replace itself");
  SLIPWAY_CHECK(
      !Contradict(*graph_.values[output].type, *graph_.values[value].type),
      absl::StrCat("the replacement of ", graph_.values[output].name, " is of another type"));
  // What callers bring stays as they were told.
  if (producer_[value] != kNoNode) RefineType(graph_.values[value], *graph_.values[output].type);
  replacement_[output] = value;
  uses_[value] += uses_[output];
  uses_[output] = 0;
}

void GraphRewriter::Replace(const Node& node, ValueId value) {
  Release(node);
  ReplaceOutput(node.outputs[0], value);
}

void GraphRewriter::SettleOutputs() {
  // Values whose names may not change.
  absl::flat_hash_set<ValueId> fixed(graph_.inputs.begin(), graph_.inputs.end());
  for (const ValueId id : graph_.outputs) {
    if (Resolve(id) == id) fixed.insert(id);
  }
  absl::flat_hash_set<ValueId> settled;
  for (ValueId& output : graph_.outputs) {
    const ValueId value = Resolve(output);
    if (value == output) continue;
    if (settled.contains(output)) continue;  // Handed on by an Identity already.
    if (fixed.contains(value)) {
      Node identity;
      identity.name = graph_.values[output].name;
      identity.op = "Identity";
      identity.inputs = {value};
      identity.outputs = {output};
      graph_.nodes.push_back(std::move(identity));
      settled.insert(output);
      continue;
    }
    std::swap(graph_.values[value].name, graph_.values[output].name);
    fixed.insert(value);
    // A second mention of the same old output finds the renamed value.
    const ValueId renamed = output;
    for (ValueId& other : graph_.outputs) {
      if (other == renamed) other = value;
    }
  }
}

absl::StatusOr<Graph> GraphRewriter::Finish() && {
  for (Node& node : graph_.nodes) Resolve(node);
  SettleOutputs();
  SLIPWAY_RETURN_IF_ERROR(SortTopologically(graph_));
  DropUnusedValues(graph_);
  return std::move(graph_);
}

}  // namespace slipway
