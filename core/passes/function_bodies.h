// The bodies of control flow as a program's functions take and make them (Step.If and Step.Loop in artifact.proto).
#ifndef SLIPWAY_CORE_PASSES_FUNCTION_BODIES_H_
#define SLIPWAY_CORE_PASSES_FUNCTION_BODIES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// One body of a node.
struct FunctionBody {
  std::string attribute;
  // Of If the body as it is. Of Loop and Scan it takes the number of the turn, what is carried, slices, what is captured; it
  // makes whether to go on where `has_condition`, what is carried, slices.
  Graph graph;
  bool has_condition = false;
};

// The bodies of the node, none where it has no ordinary ones. UNIMPLEMENTED names a node whose slices do not lie one after
// the other.
absl::StatusOr<std::vector<FunctionBody>> FunctionBodiesOf(const NodeView& view);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_FUNCTION_BODIES_H_
