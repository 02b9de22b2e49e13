// KnownSequences: sequences and optionals whose elements are values of the graph, so that what is done to them is done while
// compiling.
#ifndef SLIPWAY_CORE_PASSES_KNOWN_SEQUENCES_H_
#define SLIPWAY_CORE_PASSES_KNOWN_SEQUENCES_H_

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "core/graph/edit.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/operators/sequence.h"
#include "core/passes/limits.h"

namespace slipway {

// What is known of one graph's sequences while its nodes are taken in their order. `graph`, `registry` and `names`, which has
// seen the graph's names, must outlive it.
class KnownSequences {
 public:
  KnownSequences(Graph& graph, const OperatorRegistry& registry, UniqueNames& names)
      : graph_(graph), registry_(registry), names_(names) {}

  // The nodes to take instead of `node` where it makes or reads a sequence of known elements: none where what it makes is
  // known from now on. What has known elements, but is read by a node that takes packs, is packed before it. A Loop that is
  // given one, and whose turns are known, is unrolled. Absent for other nodes, and for those that hang on positions which only
  // running finds out. REQUIRES: the node's inputs have types. Errors name the node.
  absl::StatusOr<std::optional<std::vector<Node>>> Rewrite(const Node& node);

  // The nodes that pack those of the graph's outputs whose elements are known.
  std::vector<Node> PackOutputs();

 private:
  using Nodes = std::vector<Node>;
  using Elements = std::vector<ValueId>;
  // Absent where it hangs on what is not known.
  using Rewritten = absl::StatusOr<std::optional<Nodes>>;
  struct Sequence {
    PackKind kind = PackKind::kSequence;
    Elements elements;  // May be sequences themselves.
  };

  const Sequence* Find(ValueId id) const;  // Null where nothing is known.
  // Of the sequence, or of that which an optional holds; null likewise.
  const Elements* FindElements(ValueId id) const;
  void Learn(ValueId id, PackKind kind, Elements elements);
  ValueId NewConstant(const NodeView& view, Tensor tensor);
  ValueId NewValue(const NodeView& view);
  // Whether so many copies of the body do not make the graph too large; counts them.
  bool MayUnroll(int64_t turns, const Graph& body);
  // Appends what packs `id` to `nodes`, once.
  void PackInto(ValueId id, Nodes& nodes);

  // By operator.
  Rewritten RewriteKnown(const Node& node, const NodeView& view);
  Rewritten At(const Node& node, const NodeView& view);
  Rewritten Insert(const Node& node, const NodeView& view);
  Rewritten Erase(const Node& node, const NodeView& view);
  Rewritten Concat(const Node& node, const NodeView& view);
  Rewritten Split(const Node& node, const NodeView& view);
  Rewritten Map(const Node& node, const NodeView& view);
  Rewritten HasElement(const Node& node, const NodeView& view);
  Rewritten GetElement(const Node& node, const NodeView& view);
  Rewritten Loop(const Node& node, const NodeView& view);

  Graph& graph_;
  const OperatorRegistry& registry_;
  UniqueNames& names_;
  absl::flat_hash_map<ValueId, Sequence> known_;
  absl::flat_hash_set<ValueId> packed_;
  int64_t nodes_left_ = kMaxUnrolledNodes;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_KNOWN_SEQUENCES_H_
