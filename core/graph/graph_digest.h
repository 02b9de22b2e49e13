// The digest of a graph: equal exactly for graphs that mean the same thing written the same way.
#ifndef SLIPWAY_CORE_GRAPH_GRAPH_DIGEST_H_
#define SLIPWAY_CORE_GRAPH_GRAPH_DIGEST_H_

#include "core/base/digest.h"
#include "core/graph/graph.h"

namespace slipway {

enum class DigestNames {
  kIncluded,  // Names of graph, values and nodes count.
  kIgnored,   // Only structure counts: the same layer in two models has one digest.
};

// Covers opset, symbols (by name, since expressions mention them), inputs, outputs, nodes in their order, attributes, types, and constants by their
// bytes. Values that nothing mentions do not count, nor does the numbering of values. REQUIRES: ids
// are in range.
Digest DigestOf(const Graph& graph, DigestNames names);

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_GRAPH_DIGEST_H_
