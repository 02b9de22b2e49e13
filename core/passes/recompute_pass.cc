#include "core/passes/recompute_pass.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/bind_symbols.h"
#include "core/graph/edit.h"
#include "core/operators/reshaping.h"
#include "core/passes/node_cost.h"

namespace slipway {
namespace {

// The nodes that the value is made of, ascending.
std::vector<NodeId> Ancestors(const Graph& graph, const std::vector<NodeId>& producers,
                              ValueId value) {
  std::vector<bool> wanted(graph.values.size(), false);
  wanted[value] = true;
  std::vector<NodeId> nodes;
  for (NodeId n = static_cast<NodeId>(graph.nodes.size()) - 1; n >= 0; --n) {
    const Node& node = graph.nodes[n];
    const bool makes = std::any_of(node.outputs.begin(), node.outputs.end(),
                                   [&](ValueId id) { return id != kNoValue && wanted[id]; });
    if (!makes) continue;
    nodes.push_back(n);
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && producers[id] != kNoNode) wanted[id] = true;
    }
  }
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

class Recomputer {
 public:
  Recomputer(Graph graph, const OperatorRegistry& registry)
      : graph_(std::move(graph)),
        registry_(registry),
        producers_(Producers(graph_)),
        names_(graph_),
        segment_(graph_.nodes.size(), kBackward),
        keeps_(graph_.nodes.size(), true),
        copy_(graph_.values.size(), kNoValue) {}

  Graph Run(ValueId loss, const RecomputeOptions& options) {
    const std::vector<NodeId> forward = Ancestors(graph_, producers_, loss);
    CutIntoSegments(forward, options.segments);
    ChooseWhatIsForgotten(forward, options.max_forward_flops - 1);
    Rewrite();
    return std::move(graph_);
  }

 private:
  static constexpr int kBackward = -1;

  // By equal bytes.
  void CutIntoSegments(const std::vector<NodeId>& forward, int segments) {
    if (segments <= 0) {
      segments = static_cast<int>(std::lround(std::sqrt(static_cast<double>(forward.size()))));
    }
    segments = std::max(segments, 1);
    int64_t total = 0;
    for (const NodeId n : forward) total += OutputBytes(graph_, graph_.nodes[n]);
    int64_t before = 0;
    for (const NodeId n : forward) {
      segment_[n] = total == 0 ? 0
                               : static_cast<int>(static_cast<double>(before) /
                                                  static_cast<double>(total) * segments);
      before += OutputBytes(graph_, graph_.nodes[n]);
    }
    last_ = forward.empty() ? 0 : segment_[forward.back()];
  }

  bool MayBeForgotten(NodeId n, const std::vector<std::vector<NodeId>>& users,
                      const std::vector<bool>& outputs) const {
    const Node& node = graph_.nodes[n];
    if (segment_[n] == last_ || IsRandom(node, registry_)) return false;
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      if (outputs[id]) return false;
      for (const NodeId user : users[id]) {
        if (segment_[user] != kBackward && segment_[user] != segment_[n]) return false;
      }
    }
    return true;
  }

  void ChooseWhatIsForgotten(const std::vector<NodeId>& forward, double more) {
    const std::vector<std::vector<NodeId>> users = Users(graph_);
    const std::vector<bool> outputs = OutputFlags(graph_);
    double budget = 0;
    std::vector<NodeId> candidates;
    for (const NodeId n : forward) {
      budget += NodeFlops(graph_, graph_.nodes[n], registry_) * more;
      if (MayBeForgotten(n, users, outputs)) candidates.push_back(n);
    }
    const auto bytes_a_flop = [this](NodeId n) {
      return static_cast<double>(OutputBytes(graph_, graph_.nodes[n])) /
             std::max(1.0, NodeFlops(graph_, graph_.nodes[n], registry_));
    };
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](NodeId a, NodeId b) { return bytes_a_flop(a) > bytes_a_flop(b); });
    for (const NodeId n : candidates) {
      const double flops = NodeFlops(graph_, graph_.nodes[n], registry_);
      if (flops > budget) continue;
      budget -= flops;
      keeps_[n] = false;
    }
  }

  void Rewrite() {
    std::vector<Node> old = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (size_t n = 0; n < old.size(); ++n) {
      Node node = old[n];
      if (segment_[n] == kBackward) {
        for (ValueId& id : node.inputs) id = Remembered(id, old);
      }
      graph_.nodes.push_back(std::move(node));
    }
  }

  bool IsForgotten(ValueId id) const {
    return id != kNoValue && producers_[id] != kNoNode && !keeps_[producers_[id]];
  }

  // The value, or its copy where it is forgotten; what makes the copy is emitted first.
  ValueId Remembered(ValueId id, const std::vector<Node>& old) {
    if (id == kNoValue) return id;
    // Nodes may be copied for a copy, and so on: a stack of those that wait for others.
    std::vector<NodeId> waiting;
    const auto missing = [this](ValueId value) {
      const bool is_missing = IsForgotten(value) && copy_[value] == kNoValue;
      return is_missing ? producers_[value] : kNoNode;
    };
    if (missing(id) != kNoNode) waiting.push_back(missing(id));
    while (!waiting.empty()) {
      const Node& node = old[waiting.back()];
      NodeId first = kNoNode;
      for (const ValueId input : node.inputs) {
        if (first == kNoNode) first = missing(input);
      }
      if (first != kNoNode) {
        waiting.push_back(first);
        continue;
      }
      waiting.pop_back();
      Emit(node);
    }
    return IsForgotten(id) ? copy_[id] : id;
  }

  // A copy of the node. What it reads of what is remembered it reads apart, or else it would be taken for the node.
  void Emit(Node node) {
    for (ValueId& id : node.inputs) {
      if (id == kNoValue || graph_.values[id].constant.has_value()) continue;
      if (copy_[id] == kNoValue) {
        graph_.nodes.push_back({"", kAgainOperator, {id}, {AddCopy(id)}, {}});
      }
      id = copy_[id];
    }
    for (ValueId& id : node.outputs) {
      if (id != kNoValue) id = AddCopy(id);
    }
    graph_.nodes.push_back(std::move(node));
  }

  ValueId AddCopy(ValueId id) {
    const Value& value = graph_.values[id];
    copy_[id] = graph_.AddValue(names_.Make(absl::StrCat(value.name, "_again")), value.type);
    return copy_[id];
  }

  Graph graph_;
  const OperatorRegistry& registry_;
  const std::vector<NodeId> producers_;
  UniqueNames names_;
  std::vector<int> segment_;  // By node; kBackward for what is not before the loss.
  int last_ = 0;              // The last segment.
  std::vector<bool> keeps_;   // By node: whether what it makes is remembered.
  // By value of the graph as it came, what copies of nodes read in its place; kNoValue for none yet.
  std::vector<ValueId> copy_;
};

}  // namespace

absl::StatusOr<Graph> Recompute(Graph graph, const RecomputeOptions& options,
                                const PassContext& context) {
  SLIPWAY_RETURN_IF_ERROR(CheckStatic(graph, "Recompute"));
  for (const ValueId id : graph.outputs) {
    if (!options.loss.empty() && graph.values[id].name != options.loss) continue;
    return Recomputer(std::move(graph), context.registry).Run(id, options);
  }
  return absl::InvalidArgumentError(absl::StrCat("the graph has no output \"", options.loss, "\""));
}

}  // namespace slipway
