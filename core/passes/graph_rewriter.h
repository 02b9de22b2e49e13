// GraphRewriter: how passes replace nodes: take the old ones in order, keep, change or replace each.
#ifndef SLIPWAY_CORE_PASSES_GRAPH_REWRITER_H_
#define SLIPWAY_CORE_PASSES_GRAPH_REWRITER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/graph/edit.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

//   GraphRewriter rewriter(std::move(graph), registry);
//   for (Node& node : rewriter.TakeNodes()) {
//     rewriter.Resolve(node);
//     if (node.op == "Flatten") {
//       SLIPWAY_ASSIGN_OR_RETURN(const ValueId y, rewriter.Add("Reshape", ...));
//       rewriter.Replace(node, y);
//     } else {
//       rewriter.Keep(std::move(node));
//     }
//   }
//   return std::move(rewriter).Finish();
//
// Old nodes have to be dealt with in the order of TakeNodes. Not thread-safe.
class GraphRewriter {
 public:
  // `registry` must outlive the rewriter. REQUIRES: the graph is verified.
  GraphRewriter(Graph graph, const OperatorRegistry& registry);

  // The old nodes; afterwards graph().nodes are the new ones.
  std::vector<Node> TakeNodes();

  // The values, old and new, and the nodes emitted so far.
  const Graph& graph() const { return graph_; }
  const ValueType& type(ValueId id) const { return *graph_.values[id].type; }
  // Null when it is not a constant.
  const Tensor* constant(ValueId id) const;

  // Makes the node read what its inputs were replaced by.
  void Resolve(Node& node) const;
  ValueId Resolve(ValueId id) const;

  // How many inputs of nodes (old ones not dealt with yet, and new ones) and graph outputs read it.
  int Uses(ValueId id) const { return uses_[id]; }
  // The emitted node that makes it; null when it is an input or a constant. Valid until the next
  // node is emitted. Change inputs through SetInput only.
  Node* Producer(ValueId id);
  // REQUIRES: `node` was emitted.
  void SetInput(Node& node, size_t index, ValueId value);

  // Emits an old node, perhaps changed.
  void Keep(Node node);
  // The same with other inputs.
  void Keep(Node node, std::vector<ValueId> inputs);
  // Emits a new node with one output; its type is inferred. `name` names node and output, as far as
  // it is free.
  absl::StatusOr<ValueId> Add(absl::string_view op, std::vector<ValueId> inputs,
                              Attributes attributes, absl::string_view name);
  // Adds to the type of a new value what its type rule could not know. REQUIRES: the two do not contradict.
  void Refine(ValueId id, const ValueType& type) { RefineType(graph_.values[id], type); }
  ValueId Constant(absl::string_view name, Tensor tensor);
  // A new value, for an output of an old node that is kept with another type.
  ValueId AddValue(absl::string_view name, ValueType type);

  // Instead of an old node: its output (output 0, or `output`) is `value` from now on; further
  // outputs must be replaced too or be unread. REQUIRES: their types do not contradict.
  void Replace(const Node& node, ValueId value);
  void ReplaceOutput(ValueId output, ValueId value);
  // An old node that is not emitted no longer reads its inputs. Replace does this.
  void Release(const Node& node);

  // The new graph. Outputs keep their names: a value that stands for one takes its name or, where it
  // has a name to keep itself, is handed on by an Identity.
  absl::StatusOr<Graph> Finish() &&;

 private:
  std::string MadeName(absl::string_view wanted);
  // Of a value that was just added.
  ValueId Track(ValueId id);
  void Emit(Node node);
  void SettleOutputs();

  const OperatorRegistry& registry_;
  Graph graph_;
  UniqueNames names_;
  std::vector<ValueId> replacement_;  // By value; itself where nothing replaces it.
  std::vector<int> uses_;
  std::vector<NodeId> producer_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_GRAPH_REWRITER_H_
