// Views: operators that give the same bytes in the same order another shape.
#ifndef SLIPWAY_CORE_PASSES_VIEW_OPERATORS_H_
#define SLIPWAY_CORE_PASSES_VIEW_OPERATORS_H_

#include "absl/strings/string_view.h"

namespace slipway {

// Such a node's output 0 lies where its input 0 lies: it needs no kernel. FuseOps leaves it as it is.
inline bool IsViewOperator(absl::string_view op) {
  return op == "Reshape" || op == "Flatten" || op == "Squeeze" || op == "Unsqueeze" ||
         op == "Identity";
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_VIEW_OPERATORS_H_
