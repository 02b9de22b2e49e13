#include "core/graph/edit.h"

#include <queue>
#include <utility>

#include "absl/strings/str_cat.h"

namespace slipway {

std::vector<NodeId> Producers(const Graph& graph) {
  std::vector<NodeId> producers(graph.values.size(), kNoNode);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId id : graph.nodes[n].outputs) {
      if (id != kNoValue) producers[id] = static_cast<NodeId>(n);
    }
  }
  return producers;
}

std::vector<std::vector<NodeId>> Users(const Graph& graph) {
  std::vector<std::vector<NodeId>> users(graph.values.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId id : graph.nodes[n].inputs) {
      if (id != kNoValue) users[id].push_back(static_cast<NodeId>(n));
    }
  }
  return users;
}

std::vector<bool> OutputFlags(const Graph& graph) {
  std::vector<bool> flags(graph.values.size(), false);
  for (const ValueId id : graph.outputs) flags[id] = true;
  return flags;
}

void ReplaceUses(Graph& graph, ValueId from, ValueId to) {
  for (Node& node : graph.nodes) {
    for (ValueId& id : node.inputs) {
      if (id == from) id = to;
    }
  }
  for (ValueId& id : graph.outputs) {
    if (id == from) id = to;
  }
}

void ReplaceUses(Graph& graph, const std::vector<ValueId>& replacement) {
  const auto follow = [&replacement](ValueId id) {
    while (id != kNoValue && replacement[id] != id) id = replacement[id];
    return id;
  };
  for (Node& node : graph.nodes) {
    for (ValueId& id : node.inputs) id = follow(id);
  }
  for (ValueId& id : graph.outputs) id = follow(id);
}

void RefineType(Value& value, const ValueType& type) {
  if (!value.type.has_value()) {
    value.type = type;
    return;
  }
  if (value.type->is_static()) return;
  Dimensions dimensions = value.type->dimensions();
  for (int d = 0; d < type.rank(); ++d) {
    // Where both say as much the new one, which may have been told with narrower symbols.
    dimensions[d] = MorePrecise(type.dimension(d), dimensions[d]);
  }
  ValueType refined(type.dtype(), dimensions);
  refined.set_quantization(value.type->quantization());
  value.type = std::move(refined);
}

void DropUnusedValues(Graph& graph) {
  std::vector<bool> used(graph.values.size(), false);
  const auto mark = [&used](const std::vector<ValueId>& ids) {
    for (const ValueId id : ids) {
      if (id != kNoValue) used[id] = true;
    }
  };
  mark(graph.inputs);
  mark(graph.outputs);
  for (const Node& node : graph.nodes) {
    mark(node.inputs);
    mark(node.outputs);
  }

  std::vector<ValueId> renumbered(graph.values.size(), kNoValue);
  std::vector<Value> kept;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (!used[i]) continue;
    renumbered[i] = static_cast<ValueId>(kept.size());
    kept.push_back(std::move(graph.values[i]));
  }
  graph.values = std::move(kept);

  const auto renumber = [&renumbered](std::vector<ValueId>& ids) {
    for (ValueId& id : ids) {
      if (id != kNoValue) id = renumbered[id];
    }
  };
  renumber(graph.inputs);
  renumber(graph.outputs);
  for (Node& node : graph.nodes) {
    renumber(node.inputs);
    renumber(node.outputs);
  }
}

absl::Status SortTopologically(Graph& graph) {
  const std::vector<NodeId> producers = Producers(graph);
  std::vector<int> waiting_for(graph.nodes.size(), 0);
  std::vector<std::vector<NodeId>> readers(graph.nodes.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId id : graph.nodes[n].inputs) {
      if (id == kNoValue || producers[id] == kNoNode) continue;
      ++waiting_for[n];
      readers[producers[id]].push_back(static_cast<NodeId>(n));
    }
  }
  // The lowest old position first, so that a sorted graph stays as it is.
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<NodeId>> ready;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (waiting_for[n] == 0) ready.push(static_cast<NodeId>(n));
  }
  std::vector<NodeId> order;
  order.reserve(graph.nodes.size());
  while (!ready.empty()) {
    const NodeId n = ready.top();
    ready.pop();
    order.push_back(n);
    for (const NodeId reader : readers[n]) {
      if (--waiting_for[reader] == 0) ready.push(reader);
    }
  }
  if (order.size() != graph.nodes.size()) {
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      if (waiting_for[n] == 0) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("node \"", DisplayName(graph, graph.nodes[n]), "\" (", graph.nodes[n].op,
                       ") is on or behind a cycle: a graph must be acyclic"));
    }
  }
  std::vector<Node> sorted;
  sorted.reserve(order.size());
  for (const NodeId n : order) sorted.push_back(std::move(graph.nodes[n]));
  graph.nodes = std::move(sorted);
  return absl::OkStatus();
}

UniqueNames::UniqueNames(const Graph& graph) {
  for (const Value& value : graph.values) taken_.insert(value.name);
}

std::string UniqueNames::Make(absl::string_view wanted) {
  if (!wanted.empty() && taken_.insert(std::string(wanted)).second) return std::string(wanted);
  int& next = next_suffix_[wanted];
  while (true) {
    std::string name = absl::StrCat(wanted, "_", ++next);
    if (taken_.insert(name).second) return name;
  }
}

}  // namespace slipway
