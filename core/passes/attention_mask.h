// Masks between the two products of attention. Private to FuseAttention.
#ifndef SLIPWAY_CORE_PASSES_ATTENTION_MASK_H_
#define SLIPWAY_CORE_PASSES_ATTENTION_MASK_H_

#include <cstdint>
#include <optional>

#include "core/graph/graph.h"
#include "core/passes/graph_rewriter.h"

namespace slipway {

// As slipway.BlockAttention has it (core/operators/attention.h).
struct TakenMask {
  ValueId value =
      kNoValue;  // Numbers that are added, or conditions; of four dimensions at most, which fit the scores'.
  ValueId added = kNoValue;          // Of numbers: others that are added to them.
  bool is_inverted = false;          // Of conditions: they say which scores do not stay.
  float filling = 0;                 // Where these do not.
  std::optional<int64_t> past_keys;  // What constants among the masks say (causal_mask.h),
  std::optional<float>
      behind;  // and the number that they put in place of scores, where one is added to it.
};

// Takes off masks that are added to scores, or choose between them and a number; one that only says which keys come before a query becomes
// a number, and there may be one besides that hides them entirely. Of several that hide by low numbers, or add any, each one that is added is a mask; one that
// puts a low number in place of scores, to which another one is added, becomes numbers. Returns what the scores were before, `scores` themselves where there is no mask; kNoValue where something else is
// there.
ValueId TakeMasks(GraphRewriter& rewriter, ValueId scores, TakenMask& mask);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_ATTENTION_MASK_H_
