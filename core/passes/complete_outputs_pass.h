// CompleteOutputs: what runs bodies again and again makes all that it carries, read or not.
#ifndef SLIPWAY_CORE_PASSES_COMPLETE_OUTPUTS_PASS_H_
#define SLIPWAY_CORE_PASSES_COMPLETE_OUTPUTS_PASS_H_

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/passes/pass.h"

namespace slipway {

// A pass (pass.h). Loop, Scan and If list all outputs that their bodies make, so that each has a place in memory.
absl::StatusOr<Graph> CompleteOutputs(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_COMPLETE_OUTPUTS_PASS_H_
