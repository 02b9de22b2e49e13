#include "core/passes/placed_parts.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "core/graph/edit.h"
#include "core/graph/memory_plan.h"

namespace slipway {
namespace {

// By value the one at the begin of its chain of views.
std::vector<ValueId> ViewRoots(const Graph& graph, const OperatorRegistry& registry) {
  std::vector<ValueId> roots(graph.values.size());
  for (size_t i = 0; i < roots.size(); ++i) roots[i] = static_cast<ValueId>(i);
  for (const Node& node : graph.nodes) {
    if (registry.MovementOf(node.op) == Movement::kView) {
      roots[node.outputs[0]] = roots[node.inputs[0]];
    }
  }
  return roots;
}

class Placement {
 public:
  Placement(const Graph& graph, const OperatorRegistry& registry)
      : graph_(graph),
        registry_(registry),
        roots_(ViewRoots(graph, registry)),
        free_(graph.values.size(), false),
        is_output_(graph.values.size(), false) {
    for (const Node& node : graph.nodes) {
      if (registry.MovementOf(node.op) == Movement::kView) continue;
      for (const ValueId id : node.outputs) {
        if (id != kNoValue) free_[id] = true;
      }
    }
    for (const ValueId id : graph.outputs) {
      free_[roots_[id]] = false;
      is_output_[roots_[id]] = true;
    }
  }

  std::vector<bool> Run() {
    std::vector<bool> placed(graph_.nodes.size(), false);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      const Movement movement = registry_.MovementOf(node.op);
      if (movement == Movement::kSplit) {
        placed[n] = AreParts(node, node.inputs[0], node.outputs) &&
                    absl::c_none_of(node.outputs, [&](ValueId id) { return is_output_[id]; });
        if (!placed[n]) continue;
        for (const ValueId id : node.outputs) free_[id] = false;
      } else if (movement == Movement::kConcat) {
        placed[n] = AreParts(node, node.outputs[0], node.inputs) && InputsAreFree(node);
        if (!placed[n]) continue;
        for (const ValueId id : node.inputs) free_[roots_[id]] = false;
        free_[node.outputs[0]] = false;
      }
    }
    return placed;
  }

 private:
  bool AreParts(const Node& node, ValueId whole, absl::Span<const ValueId> parts) const {
    if (!graph_.values[whole].type->is_static()) return false;
    const Shape& shape = graph_.values[whole].type->shape();
    const auto* attribute = node.attributes.FindAs<int64_t>("axis");
    const int64_t rank = static_cast<int64_t>(shape.size());
    int64_t axis = attribute == nullptr ? 0 : *attribute;
    if (axis < 0) axis += rank;
    for (int64_t d = 0; d < axis; ++d) {
      if (shape[d] != 1) return false;
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] == kNoValue) return false;
      const int64_t bytes = graph_.values[parts[i]].type->byte_size();
      if (bytes == 0) return false;
      if (i + 1 < parts.size() && bytes % kPlanAlignment != 0) return false;
    }
    return true;
  }

  bool InputsAreFree(const Node& node) const {
    absl::flat_hash_set<ValueId> seen;
    for (const ValueId id : node.inputs) {
      if (!free_[roots_[id]] || !seen.insert(roots_[id]).second) return false;
    }
    return true;
  }

  const Graph& graph_;
  const OperatorRegistry& registry_;
  const std::vector<ValueId> roots_;
  std::vector<bool> free_;       // By root: a Concat may say where it lies.
  std::vector<bool> is_output_;  // By root.
};

}  // namespace

std::vector<bool> PlacedParts(const Graph& graph, const OperatorRegistry& registry) {
  return Placement(graph, registry).Run();
}

std::vector<Place> PlacesOf(const Graph& graph, const OperatorRegistry& registry,
                            const std::vector<bool>& placed) {
  std::vector<Place> places(graph.values.size());
  for (size_t i = 0; i < places.size(); ++i) places[i].whole = static_cast<ValueId>(i);
  const auto bytes_of = [&](ValueId id) { return graph.values[id].type->byte_size(); };
  // Where the results of Concats have them.
  std::vector<Place> in_result(graph.values.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const Movement movement = registry.MovementOf(node.op);
    if (movement == Movement::kView) places[node.outputs[0]] = places[node.inputs[0]];
    if (!placed[n]) continue;
    int64_t offset = 0;
    if (movement == Movement::kSplit) {
      for (const ValueId id : node.outputs) {
        places[id] = places[node.inputs[0]];
        places[id].offset += offset;
        offset += bytes_of(id);
      }
    } else {
      for (const ValueId id : node.inputs) {
        in_result[places[id].whole] = {node.outputs[0], offset};
        offset += bytes_of(id);
      }
    }
  }
  for (Place& place : places) {
    const Place& further = in_result[place.whole];
    if (further.whole != kNoValue) place = {further.whole, further.offset + place.offset};
  }
  return places;
}

}  // namespace slipway
