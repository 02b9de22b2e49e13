// FoldScaleAxis: takes scales and shifts a channel into the weights beside them.
#ifndef SLIPWAY_CORE_PASSES_FOLD_SCALE_AXIS_PASS_H_
#define SLIPWAY_CORE_PASSES_FOLD_SCALE_AXIS_PASS_H_

#include "core/passes/pass.h"

namespace slipway {

// Mul, Div, Add and Sub with a constant that has one value a channel (or one in all), behind a Conv or
// Gemm that nothing else reads, become part of its weights and bias. A Mul before a Conv becomes part
// of the weights' input channels; an Add there does not, since padding is not shifted.
absl::StatusOr<Graph> FoldScaleAxis(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_FOLD_SCALE_AXIS_PASS_H_
