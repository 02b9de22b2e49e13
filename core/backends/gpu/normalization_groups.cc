#include "core/backends/gpu/normalization_groups.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/backends/program/program_manifest.h"
#include "core/codegen/rows/row_kernel.h"
#include "core/graph/edit.h"
#include "core/operators/fused.h"

namespace slipway {
namespace {

class Grouping {
 public:
  Grouping(const Graph& graph, const PassContext& context, const DeviceTarget& device)
      : graph_(graph),
        registry_(context.registry),
        device_(device),
        users_(Users(graph)),
        producers_(Producers(graph)),
        is_output_(OutputFlags(graph)) {}

  // The group that ends where the normalization `n` does, or behind it; empty where there is none.
  std::vector<NodeId> GroupOf(NodeId n) const {
    const Node& node = graph_.nodes[n];
    if (node.op != "LayerNormalization" && node.op != "RMSNormalization") return {};
    const NodeId before = producers_[node.inputs[0]];
    if (before == kNoNode || graph_.nodes[before].op != "Transpose" ||
        OnlyUser(node.inputs[0]) != n || node.outputs.size() != 1) {
      return {};
    }
    const NodeId behind = OnlyUser(node.outputs[0]);
    if (behind != kNoNode && graph_.nodes[behind].op == "Transpose") {
      if (IsServed({before, n, behind})) return {before, n, behind};
    }
    if (IsServed({before, n})) return {before, n};
    return {};
  }

  // All that its nodes read comes in, constants too.
  Node Fused(const std::vector<NodeId>& group) const {
    Node fused;
    fused.op = kFusedOperator;
    Graph body;
    std::string operators;
    std::map<ValueId, ValueId> inside;
    for (const NodeId n : group) {
      Node inner = graph_.nodes[n];
      absl::StrAppend(&operators, operators.empty() ? "" : "+", inner.op);
      for (ValueId& id : inner.inputs) {
        if (id == kNoValue) continue;
        const auto [entry, is_new] = inside.try_emplace(id, kNoValue);
        if (is_new) {
          fused.inputs.push_back(id);
          entry->second = body.AddInput(graph_.value(id).name, graph_.value(id).type);
        }
        id = entry->second;
      }
      for (ValueId& id : inner.outputs) {
        const Value& made = graph_.value(id);
        id = inside[id] = body.AddValue(made.name, made.type);
      }
      body.nodes.push_back(std::move(inner));
    }
    fused.outputs = graph_.nodes[group.back()].outputs;
    body.outputs = body.nodes.back().outputs;
    fused.name = absl::StrCat(operators, " ", DisplayName(graph_, graph_.nodes[group.front()]));
    body.name = fused.name;
    body.opset = graph_.opset;
    body.symbols = graph_.symbols;
    fused.attributes.Set(kFusedBody, std::make_shared<const Graph>(std::move(body)));
    return fused;
  }

 private:
  NodeId OnlyUser(ValueId id) const {
    return users_[id].size() == 1 && !is_output_[id] ? users_[id][0] : kNoNode;
  }

  bool IsServed(const std::vector<NodeId>& group) const {
    if (IsPartOfConcat(graph_.nodes[group.back()].outputs[0])) return false;
    return MakeRowKernel(*ComputedBy(Fused(group)), registry_, device_, "f", nullptr).ok();
  }

  bool IsPartOfConcat(ValueId id) const {
    return absl::c_any_of(users_[id], [&](NodeId user) {
      const Node& node = graph_.nodes[user];
      const Movement movement = registry_.MovementOf(node.op);
      return movement == Movement::kConcat ||
             (movement == Movement::kView && IsPartOfConcat(node.outputs[0]));
    });
  }

  const Graph& graph_;
  const OperatorRegistry& registry_;
  const DeviceTarget& device_;
  const std::vector<std::vector<NodeId>> users_;
  const std::vector<NodeId> producers_;
  const std::vector<bool> is_output_;
};

}  // namespace

absl::StatusOr<Graph> GroupTurnedNormalizations(Graph graph, const PassContext& context,
                                                const DeviceTarget& device) {
  std::map<NodeId, Node> fused;  // By the last node of each group.
  std::vector<bool> is_grouped(graph.nodes.size(), false);
  const Grouping grouping(graph, context, device);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const std::vector<NodeId> group = grouping.GroupOf(static_cast<NodeId>(n));
    if (group.empty()) continue;
    for (const NodeId one : group) is_grouped[one] = true;
    fused.emplace(group.back(), grouping.Fused(group));
  }
  std::vector<Node> nodes;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto group = fused.find(static_cast<NodeId>(n));
    if (group != fused.end()) {
      nodes.push_back(std::move(group->second));
    } else if (!is_grouped[n]) {
      nodes.push_back(std::move(graph.nodes[n]));
    }
  }
  graph.nodes = std::move(nodes);
  DropUnusedValues(graph);
  return graph;
}

}  // namespace slipway
