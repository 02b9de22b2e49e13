// InferType: gives every value its element type and shape.
#ifndef SLIPWAY_CORE_PASSES_INFER_TYPE_PASS_H_
#define SLIPWAY_CORE_PASSES_INFER_TYPE_PASS_H_

#include "core/passes/pass.h"

namespace slipway {

// From the types of inputs and constants, by the operators' type rules, in order. Where a shape is
// computed by nodes (Shape, Gather, Concat, then Reshape), those with small constant inputs are
// evaluated on the way and become constants, so that the rule that needs their value has it. A type
// that the model states and that contradicts the rule is an error; an input without a type too. Extents that hang on
// values which are not known before running become symbols where a kernel finds them; a rank, or what else hangs on
// such values, is UNIMPLEMENTED. Ordinary bodies of a node get their types when the
// node's inputs have theirs (body_types.h). Symbols are narrowed to what nodes take, and become numbers where there is one
// value left (narrow_symbols.h). An If whose condition is constant becomes its branch, whose types then count alone.
absl::StatusOr<Graph> InferType(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_INFER_TYPE_PASS_H_
