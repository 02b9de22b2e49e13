// The rules of ExpandOps, a file a family. Private to that pass.
#ifndef SLIPWAY_CORE_PASSES_EXPAND_RULES_H_
#define SLIPWAY_CORE_PASSES_EXPAND_RULES_H_

#include <functional>

#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"
#include "core/passes/graph_rewriter.h"

namespace slipway {

// Sees a node whose inputs are resolved. True when it replaced the node; otherwise the node stays. Of one graph: what nodes
// have in common it makes once.
using ExpandRule =
    std::function<absl::StatusOr<bool>(const Node&, GraphRewriter&, const OperatorRegistry&)>;

ExpandRule AttentionRule();
ExpandRule ConvTransposeRule();
ExpandRule DynamicQuantizationRule();
ExpandRule RecurrentRule();

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_EXPAND_RULES_H_
