// Where queries, keys and values of attention lie. Private to FuseAttention.
#ifndef SLIPWAY_CORE_PASSES_ATTENTION_OPERAND_H_
#define SLIPWAY_CORE_PASSES_ATTENTION_OPERAND_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/graph/graph.h"
#include "core/operators/attention.h"
#include "core/passes/graph_rewriter.h"

namespace slipway {

// A tensor, seen as one of four dimensions, and which axis (BlockAxis) each of them is.
struct AttentionOperand {
  ValueId value = kNoValue;
  Dimensions shape;
  std::vector<int64_t> order;
  int64_t first_head = 0;

  Dimension extent(BlockAxis axis) const {
    for (size_t d = 0; d < order.size(); ++d) {
      if (order[d] == axis) return shape[d];
    }
    return Dimension();
  }
};

// The number that a constant of f32 has alone.
std::optional<float> FindNumber(const GraphRewriter& rewriter, ValueId value);

// Whether a node shows its first input in another shape.
bool IsReshaping(const Node& node);

// What is multiplied or divided by a number, which `scale` is then; `value` itself where it is something else.
ValueId TakeFactor(GraphRewriter& rewriter, ValueId value, double& scale);

// The tensor behind Transposes of `value`, whose three or four dimensions are `order`, and behind what repeats each head for several of queries, where that is wanted: Expand, Tile or Gather.
// Numbers that it is multiplied by go into `scale`, unless that is null.
AttentionOperand FindOperand(GraphRewriter& rewriter, ValueId value, std::vector<int64_t> order,
                             double* scale, bool takes_repeats);

// Where the operand is a part of one product, that product.
void TakeWhole(GraphRewriter& rewriter, AttentionOperand& operand);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_ATTENTION_OPERAND_H_
