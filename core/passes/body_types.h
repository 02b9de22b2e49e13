// The types inside of bodies, and around them: a fixed point where what a body makes is what it is given next.
#ifndef SLIPWAY_CORE_PASSES_BODY_TYPES_H_
#define SLIPWAY_CORE_PASSES_BODY_TYPES_H_

#include "absl/status/status.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/passes/bodies.h"

namespace slipway {

// Gives the ordinary bodies of the node types by `infer`, which infers those of a body whose inputs have theirs. Inputs have
// the types that the node gives (body_rule); where these grow wider with what the bodies make, the bodies are inferred
// anew, as they were, until they do not. An extent that is not known gets a symbol inside, which the graph lists too. After a few rounds every extent counts as not known, so that this ends. Captured
// constants become constants of the bodies. REQUIRES: the node's inputs have types. Errors name node and body.
absl::Status InferBodyTypes(Graph& graph, Node& node, const OperatorRegistry& registry,
                            const BodyRewrite& infer);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_BODY_TYPES_H_
