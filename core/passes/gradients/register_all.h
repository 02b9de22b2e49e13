// The list of all gradient rules.
#ifndef SLIPWAY_CORE_PASSES_GRADIENTS_REGISTER_ALL_H_
#define SLIPWAY_CORE_PASSES_GRADIENTS_REGISTER_ALL_H_

#include "core/passes/gradients/gradient_node.h"

namespace slipway {

// Rules of all operators that have one. An operator whose results do not change with small changes of its inputs
// (Floor, Equal, ArgMax) has one that gives nothing.
GradientColumn StandardGradients();

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_GRADIENTS_REGISTER_ALL_H_
