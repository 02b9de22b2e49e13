// Attention that a GPU computes on tensor cores by one kernel, without its scores in memory.
#ifndef SLIPWAY_CORE_BACKENDS_GPU_ATTENTION_GROUPS_H_
#define SLIPWAY_CORE_BACKENDS_GPU_ATTENTION_GROUPS_H_

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/passes/pass.h"
#include "core/target/target.h"
#include "core/tensor/precision.h"

namespace slipway {

// A pass (pass.h), before CallKernels: what FuseAttention finds and the template serves (core/codegen/tensor_cores/fused_attention.h) becomes a slipway.Fused
// each, of a slipway.BlockAttention alone, with the attribute `products`. Notes of the context's ledger say how many, and what stays several
// kernels and why. The graph stays as it is where the device has no tensor cores for `precision`.
absl::StatusOr<Graph> GroupAttention(Graph graph, const PassContext& context,
                                     const DeviceTarget& device, Precision precision);

// Behind PlaceOnDevice, which may have left a group with the host for what it is a part of: the host's are nodes again, for CallKernels.
Graph UngroupHostsAttention(Graph graph);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_GPU_ATTENTION_GROUPS_H_
