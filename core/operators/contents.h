// Contents rules (OperatorSchema::contents_rule): what is known of the elements of small integer tensors before anything
// runs. Exporters compute shapes by such tensors, Shape to Gather to Mul to Concat to Reshape; over open extents their
// elements are expressions.
//
// Elements are those of the exact integers. Where a float tensor stands between (Cast, Mul by 2.0, Floor, Cast), only what is
// whole is known of it.
#ifndef SLIPWAY_CORE_OPERATORS_CONTENTS_H_
#define SLIPWAY_CORE_OPERATORS_CONTENTS_H_

#include "core/graph/operator_registry.h"

namespace slipway {

// What a rule looks at: a tensor of more elements is data.
inline constexpr int64_t kMaxContents = 1024;

// Output 0 has the elements of input 0, in their order.
Dimensions SameContents(const NodeView& view);
// The same between types that hold whole numbers.
Dimensions CastContents(const NodeView& view);
Dimensions GatherContents(const NodeView& view);
Dimensions ConcatContents(const NodeView& view);
Dimensions ExpandContents(const NodeView& view);
Dimensions RangeContents(const NodeView& view);
// Add, Sub, Mul, Div, Min, Max, Sum.
Dimensions ArithmeticContents(const NodeView& view);
Dimensions EqualContents(const NodeView& view);
Dimensions WhereContents(const NodeView& view);
// ReduceProd, ReduceSum, ReduceMin and ReduceMax over all elements.
Dimensions ReduceContents(const NodeView& view);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_CONTENTS_H_
