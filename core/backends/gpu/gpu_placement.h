// What of a program a GPU computes, and what stays with the host.
#ifndef SLIPWAY_CORE_BACKENDS_GPU_GPU_PLACEMENT_H_
#define SLIPWAY_CORE_BACKENDS_GPU_GPU_PLACEMENT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/passes/pass.h"
#include "core/tensor/dtype.h"

namespace slipway {

// A pass (pass.h), behind FuseOps: each slipway.Fused that can goes to device 1, with what only says where its result lies;
// everything else stays with the host, calls and bodies too, and copies stand between. Each device has constants of its own. What stays, and why, are notes of the context's ledger.
// `types` are those of the device's elements.
absl::StatusOr<Graph> PlaceOnDevice(Graph graph, const PassContext& context,
                                    absl::Span<const DataType> types);

// By value of a graph as PlaceOnDevice leaves it: in whose memory it lies.
std::vector<int> DevicesOfValues(const Graph& graph, const OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_GPU_GPU_PLACEMENT_H_
