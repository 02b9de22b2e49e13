// A factor, taken into the constants that a value is made of. Private to FoldQuantization.
#ifndef SLIPWAY_CORE_PASSES_SCALE_AHEAD_H_
#define SLIPWAY_CORE_PASSES_SCALE_AHEAD_H_

#include <optional>

#include "absl/status/statusor.h"
#include "core/passes/graph_rewriter.h"

namespace slipway {

// x * factor, with as little to compute as x: x is made by Add, Relu, Clip and views of constants, of what DequantizeLinear makes, of
// the sums of a slipway.IntegerConv or slipway.IntegerGemm times a constant, and of what Conv makes, which is multiplied by the factor (FoldScaleAxis takes
// that into weights). What is made anew nobody else reads. Absent where x is not of that kind, and where none of it is made of
// quantized weights, neither at once nor by way of a QuantizeLinear whose scale is 1 already.
// REQUIRES: factor > 0, and that one use of x is the caller's.
absl::StatusOr<std::optional<ValueId>> ScaleAhead(GraphRewriter& rewriter,
                                                  const OperatorRegistry& registry, ValueId x,
                                                  double factor);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_SCALE_AHEAD_H_
