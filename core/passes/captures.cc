#include "core/passes/captures.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/graph/edit.h"
#include "core/graph/operator_registry.h"

namespace slipway {
namespace {

using Bodies = std::vector<std::pair<std::string, std::shared_ptr<const Graph>>>;

Bodies BodiesOf(const Node& node) {
  Bodies bodies;
  for (const auto& [name, value] : node.attributes) {
    const auto* body = std::get_if<std::shared_ptr<const Graph>>(&value);
    if (body != nullptr) bodies.emplace_back(name, *body);
  }
  return bodies;
}

// 0 where the node and its bodies do not fit.
size_t CountCaptures(const Node& node, const Bodies& bodies) {
  const auto* attribute = node.attributes.FindAs<int64_t>(kCapturesAttribute);
  if (attribute == nullptr || *attribute <= 0) return 0;
  const size_t count = static_cast<size_t>(*attribute);
  if (count > node.inputs.size()) return 0;
  for (const auto& [name, body] : bodies) {
    if (count > body->inputs.size()) return 0;
  }
  return count;
}

// Drops those of a list's last elements that `dropped` marks.
void DropLast(const std::vector<bool>& dropped, std::vector<ValueId>& ids) {
  const size_t first = ids.size() - dropped.size();
  std::vector<ValueId> kept(ids.begin(), ids.begin() + static_cast<int64_t>(first));
  for (size_t k = 0; k < dropped.size(); ++k) {
    if (!dropped[k]) kept.push_back(ids[first + k]);
  }
  ids = std::move(kept);
}

// Inputs that are no longer captured become what `values` says, by capture, or nothing where that is null.
void Drop(const std::vector<bool>& dropped, const std::vector<const Value*>& values,
          const Bodies& bodies, Node& node) {
  int64_t left = 0;
  for (const bool drop : dropped) left += drop ? 0 : 1;
  if (left == static_cast<int64_t>(dropped.size())) return;
  for (const auto& [name, body] : bodies) {
    Graph changed = *body;
    const size_t first = changed.inputs.size() - dropped.size();
    for (size_t k = 0; k < dropped.size(); ++k) {
      if (!dropped[k] || values[k] == nullptr) continue;
      Value& inner = changed.values[changed.inputs[first + k]];
      inner.type = values[k]->type;
      inner.constant = values[k]->constant;
    }
    DropLast(dropped, changed.inputs);
    DropUnusedValues(changed);
    node.attributes.Set(name, std::make_shared<const Graph>(std::move(changed)));
  }
  DropLast(dropped, node.inputs);
  node.attributes.Set(kCapturesAttribute, left);
}

std::vector<bool> ReadValues(const Graph& graph) {
  std::vector<bool> read = OutputFlags(graph);
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.inputs) {
      if (id != kNoValue) read[id] = true;
    }
  }
  return read;
}

}  // namespace

void SinkConstants(const Graph& graph, Node& node) {
  const Bodies bodies = BodiesOf(node);
  const size_t count = CountCaptures(node, bodies);
  std::vector<bool> dropped(count, false);
  std::vector<const Value*> values(count, nullptr);
  for (size_t k = 0; k < count; ++k) {
    const ValueId id = node.inputs[node.inputs.size() - count + k];
    if (id == kNoValue || !graph.values[id].constant.has_value()) continue;
    dropped[k] = true;
    values[k] = &graph.values[id];
  }
  Drop(dropped, values, bodies, node);
}

void DropUnreadCaptures(Node& node) {
  const Bodies bodies = BodiesOf(node);
  const size_t count = CountCaptures(node, bodies);
  std::vector<bool> dropped(count, true);
  for (const auto& [name, body] : bodies) {
    const std::vector<bool> read = ReadValues(*body);
    for (size_t k = 0; k < count; ++k) {
      if (read[body->inputs[body->inputs.size() - count + k]]) dropped[k] = false;
    }
  }
  Drop(dropped, std::vector<const Value*>(count, nullptr), bodies, node);
}

}  // namespace slipway
