// FuseOps: compounds operators into groups; each becomes one kernel.
#ifndef SLIPWAY_CORE_PASSES_FUSE_OPS_PASS_H_
#define SLIPWAY_CORE_PASSES_FUSE_OPS_PASS_H_

#include "core/passes/pass.h"

namespace slipway {

// Afterwards every node is a slipway.Fused (core/operators/fused.h), a view (Movement::kView), or a
// Concat whose inputs are made in its result (placed_parts.h).
//
// Groups grow from a head along post-dominators (Chen et al., "TVM: An Automated End-to-End Optimizing
// Compiler for Deep Learning", OSDI 2018, section 3): when all paths from a group's last node meet in
// one node, and all nodes on them may be fused, they join. What is between is read by nobody else, so
// no two groups wait for each other.
//  - Behind an out-fusable operator (Conv, Gemm) or a reduction (pools, means): elementwise and broadcasting operators that make
//    tensors of the head's shape and type, the residual Add with them.
//  - Elementwise and broadcasting operators with one another, and with what only moves elements around
//    (Transpose, Pack, Unpack, DepthToSpace, SpaceToDepth), as long as the number of elements stays.
//  - Anything else stands alone.
// A group has one output unless its one operator has several. Constants that say how to compute (single
// finite numbers; up to kMaxBodyIntegers integers) are in its body, all others are its inputs, so that layers
// with other weights are the same kernel. A group is named "Conv+Add+Relu HEAD'S NAME".
absl::StatusOr<Graph> FuseOps(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_FUSE_OPS_PASS_H_
