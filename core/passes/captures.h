// What bodies capture (kCapturesAttribute in core/graph/operator_registry.h), as passes change it. Both leave alone a node
// whose bodies have fewer inputs than it says: its type rule refuses it.
#ifndef SLIPWAY_CORE_PASSES_CAPTURES_H_
#define SLIPWAY_CORE_PASSES_CAPTURES_H_

#include "core/graph/graph.h"

namespace slipway {

// Captured constants become constants of the node's bodies, so that type rules inside see their values.
void SinkConstants(const Graph& graph, Node& node);

// What no body reads is no longer captured.
void DropUnreadCaptures(Node& node);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_CAPTURES_H_
