#include "core/passes/fusion_groups.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/passes/limits.h"
#include "core/passes/placed_parts.h"
#include "core/passes/post_dominators.h"
#include "core/tensor/dtype.h"

namespace slipway {
namespace {

constexpr int kUngrouped = -1;

class Grouping {
 public:
  // `schemas` are the nodes'.
  Grouping(const Graph& graph, const OperatorRegistry& registry,
           std::vector<const OperatorSchema*> schemas)
      : graph_(graph),
        schemas_(std::move(schemas)),
        users_(Users(graph)),
        producers_(Producers(graph)),
        is_output_(OutputFlags(graph)),
        dominators_(ImmediatePostDominators(graph)),
        placed_(PlacedParts(graph, registry)),
        group_of_(graph.nodes.size(), kUngrouped) {}

  std::vector<std::vector<NodeId>> Run();

 private:
  Pattern PatternOf(NodeId n) const { return schemas_[n]->pattern; }
  bool StaysAsItIs(NodeId n) const {
    return placed_[n] || schemas_[n]->movement == Movement::kView ||
           schemas_[n]->body_rule != nullptr || PatternOf(n) == Pattern::kKernel;
  }
  bool IsPermutation(NodeId n) const { return schemas_[n]->movement == Movement::kPermutation; }
  bool IsElementwise(NodeId n) const {
    return graph_.nodes[n].outputs.size() == 1 && slipway::IsElementwise(PatternOf(n));
  }
  // Computes an output element from many inputs; an elementwise tail costs it nothing.
  bool IsAnchor(NodeId n) const {
    return PatternOf(n) == Pattern::kOutFusable || PatternOf(n) == Pattern::kReduction ||
           PatternOf(n) == Pattern::kRereading;
  }
  const ValueType& OutputType(NodeId n) const {
    return *graph_.values[graph_.nodes[n].outputs[0]].type;
  }
  bool SameShape(NodeId a, NodeId b) const {
    return SameExtents(OutputType(a).dimensions(), OutputType(b).dimensions());
  }
  bool SameCount(NodeId a, NodeId b) const {
    return SameExtent(NumElements(OutputType(a).dimensions()),
                      NumElements(OutputType(b).dimensions()));
  }
  bool MayJoin(NodeId head, NodeId n) const;
  // The nodes behind `last` up to and including `end`; empty when one of them may not join.
  std::vector<NodeId> PathsBetween(NodeId head, NodeId last, NodeId end) const;
  // What makes larger elements of smaller ones beside the way from the head to the end, for nobody else.
  std::vector<NodeId> WidenedBeside(NodeId head, const std::vector<NodeId>& nodes) const;
  // What makes the elements that the reduction `head` reads, for it alone, as far as the limits allow; the last one first.
  std::vector<NodeId> ReducedAlone(NodeId head) const;
  bool FitsLimits(const std::vector<NodeId>& nodes) const;
  void Grow(NodeId head);

  const Graph& graph_;
  const std::vector<const OperatorSchema*> schemas_;
  const std::vector<std::vector<NodeId>> users_;
  const std::vector<NodeId> producers_;
  const std::vector<bool> is_output_;
  const std::vector<NodeId> dominators_;
  const std::vector<bool> placed_;
  std::vector<int> group_of_;
  std::vector<std::vector<NodeId>> groups_;
};

bool Grouping::MayJoin(NodeId head, NodeId n) const {
  if (group_of_[n] != kUngrouped || StaysAsItIs(n)) return false;
  if (IsAnchor(head)) {
    // What a convolution or product makes may change its type on the way, from sums to what is stored.
    const bool same_type = OutputType(n).dtype() == OutputType(head).dtype();
    return IsElementwise(n) && SameShape(n, head) &&
           (same_type || PatternOf(head) == Pattern::kOutFusable);
  }
  // What broadcasts an earlier result would compute it again for every element.
  return (IsElementwise(n) || IsPermutation(n)) && SameCount(n, head);
}

std::vector<NodeId> Grouping::PathsBetween(NodeId head, NodeId last, NodeId end) const {
  absl::flat_hash_set<NodeId> seen;
  std::vector<NodeId> pending = {last};
  while (!pending.empty()) {
    const NodeId n = pending.back();
    pending.pop_back();
    if (n == end) continue;
    for (const ValueId id : graph_.nodes[n].outputs) {
      if (id == kNoValue) continue;
      for (const NodeId user : users_[id]) {
        if (!seen.insert(user).second) continue;
        if (!MayJoin(head, user) || seen.size() > kMaxFusedNodes) return {};
        pending.push_back(user);
      }
    }
  }
  std::vector<NodeId> nodes(seen.begin(), seen.end());
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

bool Grouping::FitsLimits(const std::vector<NodeId>& nodes) const {
  if (nodes.size() > kMaxFusedNodes) return false;
  absl::flat_hash_set<ValueId> inputs;
  for (const NodeId n : nodes) {
    for (const ValueId id : graph_.nodes[n].inputs) {
      if (id != kNoValue) inputs.insert(id);
    }
  }
  return inputs.size() <= kMaxFusedInputs;
}

std::vector<NodeId> Grouping::WidenedBeside(NodeId head, const std::vector<NodeId>& nodes) const {
  std::vector<NodeId> beside;
  const absl::flat_hash_set<NodeId> inside(nodes.begin(), nodes.end());
  const auto dtype = [this](ValueId id) { return graph_.values[id].type->dtype(); };
  for (const NodeId n : nodes) {
    if (n == head) continue;
    for (const ValueId id : graph_.nodes[n].inputs) {
      const NodeId maker = id == kNoValue ? kNoNode : producers_[id];
      if (maker == kNoNode || inside.contains(maker) || absl::c_linear_search(beside, maker)) {
        continue;
      }
      if (is_output_[id] || !IsElementwise(maker) || !MayJoin(head, maker)) continue;
      const ValueId from = graph_.nodes[maker].inputs[0];
      if (from == kNoValue || ByteSize(dtype(from)) >= ByteSize(dtype(id))) continue;
      const bool is_ours =
          absl::c_all_of(users_[id], [&](NodeId user) { return inside.contains(user); });
      if (is_ours) beside.push_back(maker);
    }
  }
  return beside;
}

std::vector<NodeId> Grouping::ReducedAlone(NodeId head) const {
  const ValueId reduced = graph_.nodes[head].inputs[0];
  const Dimensions extents = graph_.values[reduced].type->dimensions();
  std::vector<NodeId> makers;
  absl::flat_hash_set<NodeId> inside = {head};
  std::vector<ValueId> pending = {reduced};
  while (!pending.empty()) {
    const ValueId id = pending.back();
    pending.pop_back();
    const NodeId maker = id == kNoValue ? kNoNode : producers_[id];
    if (maker == kNoNode || inside.contains(maker) || is_output_[id]) continue;
    if (group_of_[maker] != kUngrouped || StaysAsItIs(maker) || !IsElementwise(maker) ||
        !SameExtents(OutputType(maker).dimensions(), extents) ||
        !absl::c_all_of(users_[id], [&](NodeId user) { return inside.contains(user); })) {
      continue;
    }
    std::vector<NodeId> joined = makers;
    joined.push_back(maker);
    joined.push_back(head);
    if (!FitsLimits(joined)) break;
    makers.push_back(maker);
    inside.insert(maker);
    // What a maker further behind reads, too, is looked at again once all its users are inside.
    const std::vector<ValueId>& inputs = graph_.nodes[maker].inputs;
    pending.insert(pending.end(), inputs.begin(), inputs.end());
  }
  return makers;
}

void Grouping::Grow(NodeId head) {
  std::vector<NodeId> nodes = {head};
  if (PatternOf(head) == Pattern::kReduction) {
    nodes = ReducedAlone(head);
    std::sort(nodes.begin(), nodes.end());
    nodes.push_back(head);
  }
  const bool may_grow = graph_.nodes[head].outputs.size() == 1 &&
                        (IsAnchor(head) || IsElementwise(head) || IsPermutation(head));
  NodeId last = head;
  while (may_grow && dominators_[last] != kNoNode) {
    const NodeId end = dominators_[last];
    std::vector<NodeId> joined = nodes;
    const std::vector<NodeId> path = PathsBetween(head, last, end);
    joined.insert(joined.end(), path.begin(), path.end());
    if (path.empty() || !FitsLimits(joined)) break;
    nodes = std::move(joined);
    last = end;
  }
  if (PatternOf(head) == Pattern::kOutFusable) {
    // Read where they are needed, smaller elements are less to read, and nothing is written.
    std::vector<NodeId> joined = nodes;
    const std::vector<NodeId> beside = WidenedBeside(head, nodes);
    joined.insert(joined.begin() + 1, beside.begin(), beside.end());
    if (FitsLimits(joined)) nodes = std::move(joined);
  }
  for (const NodeId n : nodes) group_of_[n] = static_cast<int>(groups_.size());
  groups_.push_back(std::move(nodes));
}

std::vector<std::vector<NodeId>> Grouping::Run() {
  const NodeId count = static_cast<NodeId>(graph_.nodes.size());
  // Out-fusable operators choose first: an Add between two of them belongs to one of theirs. Then reductions, which take
  // what is before them.
  const auto turn = [this](NodeId n) {
    return PatternOf(n) == Pattern::kOutFusable ? 0 : PatternOf(n) == Pattern::kReduction ? 1 : 2;
  };
  for (const int at : {0, 1, 2}) {
    for (NodeId n = 0; n < count; ++n) {
      if (group_of_[n] == kUngrouped && !StaysAsItIs(n) && turn(n) == at) Grow(n);
    }
  }
  std::sort(groups_.begin(), groups_.end(),
            [](const auto& a, const auto& b) { return a.back() < b.back(); });
  return std::move(groups_);
}

}  // namespace

absl::StatusOr<std::vector<std::vector<NodeId>>> ChooseFusionGroups(
    const Graph& graph, const OperatorRegistry& registry) {
  std::vector<const OperatorSchema*> schemas;
  for (const Node& node : graph.nodes) {
    SLIPWAY_ASSIGN_OR_RETURN(const OperatorSchema* schema, registry.Get(node.op));
    schemas.push_back(schema);
  }
  return Grouping(graph, registry, std::move(schemas)).Run();
}

}  // namespace slipway
