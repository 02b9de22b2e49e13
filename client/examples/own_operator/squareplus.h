// An operator of one's own: example.Squareplus, y = (x + sqrt(x * x + b)) / 2 for every element, a smooth
// relative of Relu (Barron, "Squareplus: A Softplus-Like Algebraic Rectifier", 2021).
#ifndef SLIPWAY_CLIENT_EXAMPLES_OWN_OPERATOR_SQUAREPLUS_H_
#define SLIPWAY_CLIENT_EXAMPLES_OWN_OPERATOR_SQUAREPLUS_H_

#include "core/compiler/own_operator.h"

namespace slipway::examples {

// Its attribute is `b` (float, 4 by default); elements are f32.
OwnOperator Squareplus();

}  // namespace slipway::examples

#endif  // SLIPWAY_CLIENT_EXAMPLES_OWN_OPERATOR_SQUAREPLUS_H_
