// DelayDequantize: what moves elements around between codes moves the codes.
#ifndef SLIPWAY_CORE_PASSES_DELAY_DEQUANTIZE_PASS_H_
#define SLIPWAY_CORE_PASSES_DELAY_DEQUANTIZE_PASS_H_

#include "core/passes/pass.h"

namespace slipway {

// Operators that move elements around (views, Transpose, Slice, Split, Concat and their like) and all of whose results come to a QuantizeLinear by
// way of no others do so with codes where they are given what a DequantizeLinear makes of such, which comes behind them; several
// codes of a Concat have to be the same. A QuantizeLinear of what a DequantizeLinear with the same scale and zero point makes is
// what that reads: exact, since no product of an integer of 8 bits by a scale rounds as far as to the next one. One scale and one zero
// point for all of a tensor, constants.
absl::StatusOr<Graph> DelayDequantize(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_DELAY_DEQUANTIZE_PASS_H_
