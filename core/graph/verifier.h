// Verifier: the invariants every pass may rely on and must keep.
#ifndef SLIPWAY_CORE_GRAPH_VERIFIER_H_
#define SLIPWAY_CORE_GRAPH_VERIFIER_H_

#include "absl/status/status.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

struct VerifyOptions {
  // Whether every value must have a type. Types that are there are always checked as far as the
  // type rule can say.
  bool require_types = false;
};

// OK when: the opset is kOpset; symbols pass CheckSymbols, and a body's are among those of the graph
// around it; ids are in range; names are UTF-8 and within the limits, those of
// values unique; every value has at most one producer, and neither inputs nor constants have one; nodes are in
// topological order (INVALID_ARGUMENT names a node that reads what is not made yet, and says so when
// that is a cycle); every node fits its operator's schema; types pass CheckType and do not contradict
// the type rules; bodies verify too, and are given inputs that fit the types they state. INVALID_ARGUMENT names the node or value; UNIMPLEMENTED an unknown operator or opset.
absl::Status Verify(const Graph& graph, const OperatorRegistry& registry,
                    const VerifyOptions& options = {});

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_VERIFIER_H_
