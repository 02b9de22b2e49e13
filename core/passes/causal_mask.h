// What a constant mask of attention says of the order of queries and keys.
#ifndef SLIPWAY_CORE_PASSES_CAUSAL_MASK_H_
#define SLIPWAY_CORE_PASSES_CAUSAL_MASK_H_

#include <cstdint>
#include <optional>

#include "core/tensor/tensor.h"

namespace slipway {

// Query i sees no key behind i + past_keys, whatever the batch and the head, and query 0 does not see all.
struct CausalMask {
  int64_t past_keys = 0;
  bool is_all = false;       // The mask says nothing else: all other scores stay as they are.
  bool is_infinite = false;  // Scores that it hides so are minus infinity, not just low.
};

// Of a mask that is added to scores, f32[..., queries, keys]. A key is hidden by minus infinity, or by a number so low that its probability is 0 (at most -1e4)
// in rows that see another key. Nothing where no key is hidden by its place, or queries and keys are no dimensions of it.
std::optional<CausalMask> FindCausalMask(const Tensor& added);

// Of conditions, bool[..., queries, keys], which hide a key by `filling` in its score's place where they are not `shows`.
std::optional<CausalMask> FindCausalMask(const Tensor& conditions, bool shows, float filling);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_CAUSAL_MASK_H_
