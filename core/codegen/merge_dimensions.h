// Kernels know no more of a shape than they compute by: neighbouring dimensions that every node runs through alike are
// one. Loops get long where extents are small, and more kernels are the same.
#ifndef SLIPWAY_CORE_CODEGEN_MERGE_DIMENSIONS_H_
#define SLIPWAY_CORE_CODEGEN_MERGE_DIMENSIONS_H_

#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// Reshapes the values of `body`, whose elements stay where they are in memory.
// - Of elementwise nodes alone: neighbouring dimensions become one where every value has both or broadcasts both.
// - With pointwise convolutions over channel blocks (kernel and stride 1, no padding): the rows of a plane become fewer
//   and longer, so that tiles of positions are cut from long rows.
// - Of one Concat: each part is one row, or as many as stand before the axis. A loop nest less for every dimension counts where
//   there are dozens of parts, each with loops of its own.
// Another body is left as it is, and so are extents that are not known. REQUIRES: every value has a type, nodes fit their
// schemas.
void MergeDimensions(Graph& body, const OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_MERGE_DIMENSIONS_H_
