#include "core/passes/partition.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/graph/edit.h"

namespace slipway {
namespace {

// How many runs it takes where none may cost more than `limit`, and the run of each node.
int CutBelow(const std::vector<double>& costs, double limit, std::vector<int>& runs) {
  int run = 0;
  double sum = 0;
  for (size_t n = 0; n < costs.size(); ++n) {
    if (sum > 0 && sum + costs[n] > limit) {
      ++run;
      sum = 0;
    }
    sum += costs[n];
    runs[n] = run;
  }
  return run + 1;
}

// Whether something outside of the part reads each value.
std::vector<bool> ReadOutside(const Graph& graph, const std::vector<int>& part_of_node, int part) {
  std::vector<bool> read = OutputFlags(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (part_of_node[n] == part) continue;
    for (const ValueId id : graph.nodes[n].inputs) {
      if (id != kNoValue) read[id] = true;
    }
  }
  return read;
}

}  // namespace

std::vector<int> PartsByPredicate(const Graph& graph, const NodePredicate& predicate) {
  const std::vector<NodeId> producers = Producers(graph);
  std::vector<int> parts;
  for (const Node& node : graph.nodes) {
    int part = 0;
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && producers[id] != kNoNode) part = std::max(part, parts[producers[id]]);
    }
    const bool is_odd = part % 2 != 0;
    parts.push_back(is_odd == predicate(graph, node) ? part : part + 1);
  }
  return parts;
}

std::vector<int> BalancedStages(const Graph& graph, int stages, const NodeCost& cost) {
  std::vector<double> costs;
  double low = 0;
  double high = 0;
  for (const Node& node : graph.nodes) {
    costs.push_back(cost(graph, node));
    low = std::max(low, costs.back());
    high += costs.back();
  }
  std::vector<int> runs(costs.size(), 0);
  constexpr int kSteps = 64;  // Enough for every bit of a double.
  for (int step = 0; step < kSteps && low < high; ++step) {
    const double middle = low + (high - low) / 2;
    (CutBelow(costs, middle, runs) <= stages ? high : low) = middle;
  }
  CutBelow(costs, high, runs);
  return runs;
}

absl::StatusOr<std::vector<Graph>> SplitIntoParts(const Graph& graph,
                                                  const std::vector<int>& part_of_node) {
  const std::vector<NodeId> producers = Producers(graph);
  int last = -1;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    bool fits = n < part_of_node.size() && part_of_node[n] >= 0;
    for (const ValueId id : node.inputs) {
      const NodeId maker = id == kNoValue ? kNoNode : producers[id];
      fits = fits && (maker == kNoNode || part_of_node[maker] <= part_of_node[n]);
    }
    if (!fits) {
      return absl::InvalidArgumentError(absl::StrCat("node \"", DisplayName(graph, node), "\" (",
                                                     node.op,
                                                     ") is of no part, or reads from a later one"));
    }
    last = std::max(last, part_of_node[n]);
  }
  std::vector<Graph> parts;
  for (int part = 0; part <= last; ++part) {
    Graph& made = parts.emplace_back();
    made.name = absl::StrCat(graph.name, "_", part);
    made.opset = graph.opset;
    made.symbols = graph.symbols;
    made.constraints = graph.constraints;
    made.values = graph.values;
    const std::vector<bool> read_outside = ReadOutside(graph, part_of_node, part);
    std::vector<bool> is_known(graph.values.size(), false);
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      if (part_of_node[n] != part) continue;
      const Node& node = graph.nodes[n];
      for (const ValueId id : node.inputs) {
        if (id == kNoValue || is_known[id] || graph.values[id].constant.has_value()) continue;
        made.inputs.push_back(id);
        is_known[id] = true;
      }
      for (const ValueId id : node.outputs) {
        if (id == kNoValue) continue;
        is_known[id] = true;
        if (read_outside[id]) made.outputs.push_back(id);
      }
      made.nodes.push_back(node);
    }
    DropUnusedValues(made);
  }
  return parts;
}

}  // namespace slipway
