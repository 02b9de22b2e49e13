// MergeTransposes: permutations one after the other become one.
#ifndef SLIPWAY_CORE_PASSES_MERGE_TRANSPOSES_PASS_H_
#define SLIPWAY_CORE_PASSES_MERGE_TRANSPOSES_PASS_H_

#include "core/passes/pass.h"

namespace slipway {

// A Transpose, slipway.Pack or slipway.Unpack of what another one made, with nothing but views in between, becomes one Transpose of the
// first one's input, between views, or a view where the two undo each other. Where extents are known, and dimensions can be cut so that
// those that the first makes and those that the second reads are the same. What is done to each element behind such views comes before
// them, where FuseOps makes one kernel of both.
absl::StatusOr<Graph> MergeTransposes(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_MERGE_TRANSPOSES_PASS_H_
