// TabulateCodes: what is computed of a number of 8 bits alone, as a table of its 256 results.
#ifndef SLIPWAY_CORE_PASSES_TABULATE_CODES_PASS_H_
#define SLIPWAY_CORE_PASSES_TABULATE_CODES_PASS_H_

#include "core/passes/pass.h"

namespace slipway {

// Elementwise operators between a tensor of u8 or i8 and one of u8, i8 or i16 that is made of nothing else but single constants become one
// slipway.Lookup (core/operators/quantization.h), where that takes fewer instructions: a Gelu or Sigmoid between DequantizeLinear
// and QuantizeLinear, whatever is rounded to codes on the way. The table is what the reference computes, so that results are
// those of the model. What is between must have no other reader. `lookup_instructions`: how many a vector of as many lookups as f32
// has elements in a register takes.
absl::StatusOr<Graph> TabulateCodes(Graph graph, const PassContext& context,
                                    int lookup_instructions);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_TABULATE_CODES_PASS_H_
