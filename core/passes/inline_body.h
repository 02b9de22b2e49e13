// A body's nodes in the graph around it.
#ifndef SLIPWAY_CORE_PASSES_INLINE_BODY_H_
#define SLIPWAY_CORE_PASSES_INLINE_BODY_H_

#include <vector>

#include "absl/types/span.h"
#include "core/graph/edit.h"
#include "core/graph/graph.h"

namespace slipway {

// The body's nodes over values of `graph`, reading `inputs` and writing `outputs` (kNoValue for what is not wanted), in order.
// Other values of the body are added to `graph`, whose names `names` has seen. REQUIRES: at most as many inputs and outputs as
// the body has, all of its inputs.
std::vector<Node> InlineBody(const Graph& body, absl::Span<const ValueId> inputs,
                             absl::Span<const ValueId> outputs, Graph& graph, UniqueNames& names);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_INLINE_BODY_H_
