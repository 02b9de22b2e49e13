// FuseAttention: attention that is written out as products becomes one node.
#ifndef SLIPWAY_CORE_PASSES_FUSE_ATTENTION_PASS_H_
#define SLIPWAY_CORE_PASSES_FUSE_ATTENTION_PASS_H_

#include "core/passes/pass.h"

namespace slipway {

// MatMul(Softmax(Q K^T), V) of f32 becomes slipway.BlockAttention (core/operators/attention.h), with what lies around and between:
// numbers that Q, K or scores are multiplied or divided by; a mask that is added to scores or chooses between them and a number; NaN made
// zero; Transposes before and behind it, and a Split of queries, keys and values that were one product. Scores that something else reads stay as they are, as do heads whose number is not known, and
// few queries. Expects CanonicalizeOps and DeadCode.
absl::StatusOr<Graph> FuseAttention(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_FUSE_ATTENTION_PASS_H_
