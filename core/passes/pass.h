// A pass: from a graph to a graph that computes the same, and what all of them may consult.
#ifndef SLIPWAY_CORE_PASSES_PASS_H_
#define SLIPWAY_CORE_PASSES_PASS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/reference/reference.h"

namespace slipway {

// What one run of a pass, over a graph and the bodies in it, adds up.
struct PassLedger {
  int64_t folded_work = 0;         // What FoldConstant has spent of kMaxFoldedWork.
  std::vector<std::string> notes;  // What it left undone, and why, for people.
};

// Outlives every pass it is given to. Both references outlive the graphs that passes make, too: large constants are evaluated
// when their bytes are asked for. Passes only read it, so it may be shared by threads if it has no ledger.
struct PassContext {
  const OperatorRegistry& registry;
  const Reference& reference;    // What folds constants.
  PassLedger* ledger = nullptr;  // Null: each graph counts for itself, and nobody is told.
};

// Every pass keeps names, order and types of the graph's inputs and outputs (LowerStrings alone makes two of one), and leaves a graph that
// passes Verify with all types known. It takes verified graphs; all but InferType need all types.
// Errors name the node: INVALID_ARGUMENT where the model is wrong, UNIMPLEMENTED where we lack
// something, RESOURCE_EXHAUSTED past a limit. What a pass has to know of a target is a parameter of its
// own, which the backend that runs it binds.
//
// Bodies: a pass sees one graph, and leaves the bodies of its nodes alone. A pass that descends (NamedPass in
// pipeline.h) is applied to the ordinary bodies of nodes (OperatorSchema::body_rule) as to a graph of its
// own, innermost first, before the graph around them. Only InferType enters bodies itself, since their types
// follow from what stands before the node and decide over what stands behind it.
using Pass = std::function<absl::StatusOr<Graph>(Graph, const PassContext&)>;

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_PASS_H_
