// Normalizations of channels that a GPU reads as they lie.
#ifndef SLIPWAY_CORE_BACKENDS_GPU_NORMALIZATION_GROUPS_H_
#define SLIPWAY_CORE_BACKENDS_GPU_NORMALIZATION_GROUPS_H_

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/passes/pass.h"
#include "core/target/target.h"

namespace slipway {

// A pass (pass.h), before FuseOps: a LayerNormalization or RMSNormalization becomes a slipway.Fused with the Transpose before it, which brings channels behind all else and is read by nothing
// besides, and with the one behind it that brings them back, if there is one, where the template of rows serves them together (core/codegen/rows). Not where the result is a part of a Concat, which may give it to the host.
absl::StatusOr<Graph> GroupTurnedNormalizations(Graph graph, const PassContext& context,
                                                const DeviceTarget& device);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_GPU_NORMALIZATION_GROUPS_H_
