#include "core/passes/post_dominators.h"

#include "core/graph/edit.h"

namespace slipway {

std::vector<NodeId> ImmediatePostDominators(const Graph& graph) {
  const std::vector<std::vector<NodeId>> users = Users(graph);
  const std::vector<bool> is_output = OutputFlags(graph);
  const int count = static_cast<int>(graph.nodes.size());
  std::vector<NodeId> dominator(count, kNoNode);
  std::vector<int> depth(count, 0);  // In the tree of dominators, below the end of all paths.

  // The nearest common ancestor of two nodes in that tree.
  const auto meet = [&](NodeId a, NodeId b) {
    while (a != b) {
      if (a == kNoNode || b == kNoNode) return kNoNode;
      if (depth[a] < depth[b]) {
        b = dominator[b];
      } else {
        a = dominator[a];
      }
    }
    return a;
  };
  for (NodeId n = count - 1; n >= 0; --n) {
    NodeId common = kNoNode;
    bool first = true;
    bool ends_here = false;
    for (const ValueId id : graph.nodes[n].outputs) {
      if (id == kNoValue) continue;
      ends_here |= is_output[id];
      for (const NodeId user : users[id]) {
        common = first ? user : meet(common, user);
        first = false;
      }
    }
    dominator[n] = ends_here ? kNoNode : common;
    depth[n] = dominator[n] == kNoNode ? 1 : depth[dominator[n]] + 1;
  }
  return dominator;
}

}  // namespace slipway
