#include "core/importers/onnx/derived_nodes.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/graph/edit.h"
#include "core/graph/operator_registry.h"
#include "core/operators/training.h"

namespace slipway {
namespace {

// The nodes that `to` is made of, from `from` on, in their order.
std::vector<const Node*> NodesBetween(const Graph& graph, const std::vector<ValueId>& from,
                                      ValueId to) {
  std::vector<bool> wanted(graph.values.size(), false);
  std::vector<bool> given(graph.values.size(), false);
  for (const ValueId id : from) given[id] = true;
  wanted[to] = true;
  std::vector<const Node*> nodes;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool makes = std::any_of(node->outputs.begin(), node->outputs.end(), [&](ValueId id) {
      return id != kNoValue && wanted[id] && !given[id];
    });
    if (!makes) continue;
    nodes.push_back(&*node);
    for (const ValueId id : node->inputs) {
      if (id != kNoValue) wanted[id] = true;
    }
  }
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace

absl::StatusOr<DerivedNames> DecodeDerivedNames(const Attributes& attributes) {
  DerivedNames names;
  for (const auto& [name, value] : attributes) {
    if (name == "xs" || name == "y" || name == "zs") continue;
    return absl::InvalidArgumentError(absl::StrCat("has the unknown attribute \"", name, "\""));
  }
  const auto* xs = attributes.FindAs<std::vector<std::string>>("xs");
  const auto* zs = attributes.FindAs<std::vector<std::string>>("zs");
  const auto* y = attributes.FindAs<std::string>("y");
  if (xs == nullptr || xs->empty() || y == nullptr) {
    return absl::InvalidArgumentError("must say by what to derive (\"xs\") and what (\"y\")");
  }
  names.from = *xs;
  names.derived = static_cast<int64_t>(xs->size());
  if (zs != nullptr) names.from.insert(names.from.end(), zs->begin(), zs->end());
  names.to = *y;
  const std::set<std::string> different(names.from.begin(), names.from.end());
  if (different.size() == names.from.size()) return names;
  return absl::InvalidArgumentError("names a value twice in \"xs\" and \"zs\"");
}

Node GradientOf(const Graph& graph, const DerivedNames& names, const std::vector<ValueId>& from,
                ValueId to, std::vector<ValueId> inputs) {
  Graph body;
  body.name = names.to;
  std::vector<ValueId> inside(graph.values.size(), kNoValue);
  std::vector<ValueId> captured;
  for (const ValueId id : from) inside[id] = body.AddInput(graph.values[id].name, std::nullopt);
  UniqueNames unique(body);
  // Types follow from what is given: others than those of the values around.
  const auto read = [&](ValueId id) {
    if (id == kNoValue || inside[id] != kNoValue) return;
    const Value& value = graph.values[id];
    if (value.constant.has_value()) {
      inside[id] = body.AddConstant(unique.Make(value.name), *value.constant);
    } else {
      captured.push_back(id);
      inside[id] = body.AddInput(unique.Make(value.name), std::nullopt);
    }
  };
  for (const Node* node : NodesBetween(graph, from, to)) {
    for (const ValueId id : node->inputs) read(id);
    Node copy = *node;
    for (ValueId& id : copy.inputs) id = id == kNoValue ? kNoValue : inside[id];
    for (ValueId& id : copy.outputs) {
      if (id == kNoValue) continue;
      const ValueId made = body.AddValue(unique.Make(graph.values[id].name));
      // One of `from` that such a node makes as well stays what is given.
      if (inside[id] == kNoValue) inside[id] = made;
      id = made;
    }
    body.nodes.push_back(std::move(copy));
  }
  read(to);
  body.outputs = {inside[to]};
  Node gradient;
  gradient.op = kGradientOperator;
  gradient.inputs = std::move(inputs);
  gradient.inputs.insert(gradient.inputs.end(), captured.begin(), captured.end());
  gradient.attributes = {{kGradientBody, std::make_shared<const Graph>(std::move(body))},
                         {kDerivedInputs, names.derived},
                         {kCapturesAttribute, static_cast<int64_t>(captured.size())}};
  return gradient;
}

}  // namespace slipway
