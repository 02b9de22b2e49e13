// CallKernels: nodes that a backend has no lowering for become calls of callable kernels.
#ifndef SLIPWAY_CORE_PASSES_CALL_KERNELS_PASS_H_
#define SLIPWAY_CORE_PASSES_CALL_KERNELS_PASS_H_

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/passes/is_lowered.h"
#include "core/passes/pass.h"

namespace slipway {

// A pass (pass.h). Every node that `is_lowered` is false of, and whose operator has a callable kernel in the reference,
// becomes a slipway.Call. Other nodes without a lowering stay; so do views, which need no kernel. Before a call whose
// outputs have extents that only a kernel finds out (CallableKernel::extents) stand a call of that one and a
// slipway.BindSymbols; a view with such extents is a call too. UNIMPLEMENTED names a node with extents that nothing finds out.
absl::StatusOr<Graph> CallKernels(Graph graph, const PassContext& context,
                                  const IsLowered& is_lowered);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_CALL_KERNELS_PASS_H_
