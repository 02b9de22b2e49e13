// What passes share: who makes and who reads a value, fresh names, cleaning up after an edit.
// Every function costs O(graph) unless it says otherwise.
#ifndef SLIPWAY_CORE_GRAPH_EDIT_H_
#define SLIPWAY_CORE_GRAPH_EDIT_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/graph/graph.h"

namespace slipway {

// Per value the node that makes it, or kNoNode for inputs and constants.
std::vector<NodeId> Producers(const Graph& graph);

// Per value the nodes that read it, ascending; a node that reads it twice is there twice.
std::vector<std::vector<NodeId>> Users(const Graph& graph);

// Per value whether it is a graph output.
std::vector<bool> OutputFlags(const Graph& graph);

// Makes every reader of `from`, graph outputs included, read `to`.
void ReplaceUses(Graph& graph, ValueId from, ValueId to);

// The same for many at once: `replacement[v]` is what to read instead of v (v itself to keep it).
// Chains are followed. REQUIRES: one entry a value, no cycles.
void ReplaceUses(Graph& graph, const std::vector<ValueId>& replacement);

// Adds to the value's type what another type of the same value says: every extent from the one that
// says more; its quantization stays. REQUIRES: the two do not contradict.
void RefineType(Value& value, const ValueType& type);

// Drops values that no node, input or output mentions, and renumbers the rest in their old order.
void DropUnusedValues(Graph& graph);

// Puts nodes into topological order, keeping the old order where it can. INVALID_ARGUMENT names a
// node on a cycle. REQUIRES: ids are in range.
absl::Status SortTopologically(Graph& graph);

// Hands out names that no value of the graph has. Watches only the names it saw and gave.
class UniqueNames {
 public:
  explicit UniqueNames(const Graph& graph);
  // `wanted` if it is free and not empty, else "wanted_1", "wanted_2", ...
  std::string Make(absl::string_view wanted);

 private:
  absl::flat_hash_set<std::string> taken_;
  absl::flat_hash_map<std::string, int> next_suffix_;  // The last one tried, by wanted name.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_EDIT_H_
