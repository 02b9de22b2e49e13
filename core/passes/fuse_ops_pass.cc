#include "core/passes/fuse_ops_pass.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "core/graph/edit.h"
#include "core/operators/fused.h"
#include "core/passes/fusion_groups.h"
#include "core/passes/limits.h"
#include "core/tensor/finite.h"

namespace slipway {
namespace {

bool BelongsInBody(const Tensor& constant) {
  // Generated code may take the numbers in it for finite.
  if (constant.num_elements() == 1) return AllFinite(constant);
  switch (constant.dtype()) {
    case DataType::kInt32:
    case DataType::kInt64:
    case DataType::kBool:
      return constant.num_elements() <= kMaxBodyIntegers;
    default:
      return false;
  }
}

std::string GroupName(const Graph& graph, const std::vector<NodeId>& group) {
  std::string operators;
  for (const NodeId n : group) {
    absl::StrAppend(&operators, operators.empty() ? "" : "+",
                    absl::StripPrefix(graph.nodes[n].op, "slipway."));
  }
  const std::string name =
      absl::StrCat(operators, " ", DisplayName(graph, graph.nodes[group.front()]));
  return std::string(Utf8Prefix(name, kMaxMadeNameBytes));
}

// Moves a group's nodes into a body.
class BodyBuilder {
 public:
  explicit BodyBuilder(const Graph& graph) : graph_(graph) {}

  Node Build(const std::vector<NodeId>& group) {
    Node fused;
    fused.name = GroupName(graph_, group);
    fused.op = kFusedOperator;
    body_.name = fused.name;
    body_.opset = graph_.opset;
    body_.symbols = graph_.symbols;
    for (const NodeId n : group) {
      Node node = graph_.nodes[n];
      for (ValueId& id : node.inputs) id = Read(id, fused);
      for (ValueId& id : node.outputs) {
        if (id != kNoValue) id = Define(id);
      }
      body_.nodes.push_back(std::move(node));
    }
    for (const ValueId id : graph_.nodes[group.back()].outputs) {
      if (id == kNoValue) continue;
      fused.outputs.push_back(id);
      body_.outputs.push_back(inside_[id]);
    }
    fused.attributes.Set(kFusedBody, std::make_shared<const Graph>(std::move(body_)));
    return fused;
  }

 private:
  ValueId Define(ValueId outside) {
    return inside_[outside] =
               body_.AddValue(graph_.values[outside].name, graph_.values[outside].type);
  }
  ValueId Read(ValueId outside, Node& fused) {
    if (outside == kNoValue) return kNoValue;
    const auto found = inside_.find(outside);
    if (found != inside_.end()) return found->second;
    const Value& value = graph_.values[outside];
    if (value.constant.has_value() && BelongsInBody(*value.constant)) {
      return inside_[outside] = body_.AddConstant(value.name, *value.constant);
    }
    fused.inputs.push_back(outside);
    return inside_[outside] = body_.AddInput(value.name, value.type);
  }

  const Graph& graph_;
  Graph body_;
  absl::flat_hash_map<ValueId, ValueId> inside_;  // By value of the graph: that of the body.
};

}  // namespace

absl::StatusOr<Graph> FuseOps(Graph graph, const PassContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::vector<NodeId>> groups,
                           ChooseFusionGroups(graph, context.registry));
  // A group stands where its last node stood: what it reads is made before, what reads it comes behind.
  std::vector<const std::vector<NodeId>*> group_ending_at(graph.nodes.size(), nullptr);
  std::vector<bool> grouped(graph.nodes.size(), false);
  for (const std::vector<NodeId>& group : groups) {
    group_ending_at[group.back()] = &group;
    for (const NodeId n : group) grouped[n] = true;
  }
  std::vector<Node> nodes;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (group_ending_at[n] != nullptr) {
      nodes.push_back(BodyBuilder(graph).Build(*group_ending_at[n]));
    } else if (!grouped[n]) {
      nodes.push_back(graph.nodes[n]);
    }
  }
  graph.nodes = std::move(nodes);
  DropUnusedValues(graph);
  return graph;
}

}  // namespace slipway
