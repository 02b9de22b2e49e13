// DeadCode: drops what no graph output depends on.
#ifndef SLIPWAY_CORE_PASSES_DEAD_CODE_PASS_H_
#define SLIPWAY_CORE_PASSES_DEAD_CODE_PASS_H_

#include "core/passes/pass.h"

namespace slipway {

// Nodes, values and optional outputs that nothing reads go; graph inputs stay, since callers supply
// them by the model's list. Operators have no side effects.
absl::StatusOr<Graph> DeadCode(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_DEAD_CODE_PASS_H_
