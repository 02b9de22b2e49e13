// Recompute: lets a training graph forget what it can compute again.
#ifndef SLIPWAY_CORE_PASSES_RECOMPUTE_PASS_H_
#define SLIPWAY_CORE_PASSES_RECOMPUTE_PASS_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/passes/pass.h"

namespace slipway {

struct RecomputeOptions {
  // The output that the way forward leads to; empty for the first.
  std::string loss;
  // How many flops (node_cost.h) the way forward may take in all, in those of today. 2 lets everything be recomputed.
  double max_forward_flops = 1.4;
  // Into how many segments the way forward is cut; 0 for the square root of its nodes.
  int segments = 0;
};

// What stands before the loss is cut into segments of as many bytes; what crosses from one into another stays, and so does
// the last. Of the others, what the way back reads is computed again by copies of its nodes, which stand just before their
// first reader: those first that free most bytes a flop, as far as the flops suffice. So memory grows with the square
// root of the depth (Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016). Random nodes are never copied.
//
// Copies compute what their originals do, but of values apart (slipway.Again), so that no pass takes one for the other.
// INVALID_ARGUMENT for a loss that is no output; UNIMPLEMENTED for extents that are not known.
absl::StatusOr<Graph> Recompute(Graph graph, const RecomputeOptions& options,
                                const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_RECOMPUTE_PASS_H_
