#include "core/passes/placed_concats.h"

#include <cstdint>
#include <numeric>

#include "absl/container/flat_hash_set.h"
#include "core/graph/edit.h"
#include "core/graph/memory_plan.h"

namespace slipway {
namespace {

class Placement {
 public:
  Placement(const Graph& graph, const OperatorRegistry& registry)
      : graph_(graph),
        registry_(registry),
        roots_(ViewRoots(graph, registry)),
        free_(graph.values.size(), false) {
    for (const Node& node : graph.nodes) {
      if (registry.MovementOf(node.op) == Movement::kView) continue;
      for (const ValueId id : node.outputs) {
        if (id != kNoValue) free_[id] = true;
      }
    }
    for (const ValueId id : graph.outputs) free_[roots_[id]] = false;
  }

  std::vector<bool> Run() {
    std::vector<bool> placed(graph_.nodes.size(), false);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      if (registry_.MovementOf(node.op) != Movement::kConcat) continue;
      if (!IsContiguous(node) || !InputsAreFree(node)) continue;
      placed[n] = true;
      for (const ValueId id : node.inputs) free_[roots_[id]] = false;
      free_[node.outputs[0]] = false;
    }
    return placed;
  }

 private:
  bool IsContiguous(const Node& node) const {
    if (!graph_.values[node.outputs[0]].type->is_static()) return false;
    const Shape& shape = graph_.values[node.outputs[0]].type->shape();
    const int64_t* attribute = node.attributes.FindAs<int64_t>("axis");
    if (attribute == nullptr) return false;
    const int64_t rank = static_cast<int64_t>(shape.size());
    const int64_t axis = *attribute < 0 ? *attribute + rank : *attribute;
    for (int64_t d = 0; d < axis; ++d) {
      if (shape[d] != 1) return false;
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int64_t bytes = graph_.values[node.inputs[i]].type->byte_size();
      if (bytes == 0) return false;
      if (i + 1 < node.inputs.size() && bytes % kPlanAlignment != 0) return false;
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
  std::vector<bool> free_;  // By root: a Concat may say where it lies.
};

}  // namespace

std::vector<ValueId> ViewRoots(const Graph& graph, const OperatorRegistry& registry) {
  std::vector<ValueId> roots(graph.values.size());
  std::iota(roots.begin(), roots.end(), 0);
  for (const Node& node : graph.nodes) {
    if (registry.MovementOf(node.op) == Movement::kView)
      roots[node.outputs[0]] = roots[node.inputs[0]];
  }
  return roots;
}

std::vector<bool> PlacedConcats(const Graph& graph, const OperatorRegistry& registry) {
  return Placement(graph, registry).Run();
}

}  // namespace slipway
