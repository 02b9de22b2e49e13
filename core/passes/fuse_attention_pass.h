// FuseAttention: attention that is written out as products becomes one node.
#ifndef SLIPWAY_CORE_PASSES_FUSE_ATTENTION_PASS_H_
#define SLIPWAY_CORE_PASSES_FUSE_ATTENTION_PASS_H_

#include <functional>

#include "absl/status/status.h"
#include "core/graph/operator_registry.h"
#include "core/passes/pass.h"

namespace slipway {

// Whether a backend computes a slipway.BlockAttention, which a graph does not have yet: OK, or UNIMPLEMENTED that says why not, for people: "its extents are
// open". Without constants: its inputs are types.
using ServesAttention = std::function<absl::Status(const NodeView& attention)>;

// MatMul(Softmax(Q K^T), V) of f32 becomes slipway.BlockAttention (core/operators/attention.h), with what lies around and between:
// numbers that Q, K or scores are multiplied or divided by; a mask that is added to scores or chooses between them and a number; a constant one of which
// queries see keys up to their own place (causal_mask.h), besides; NaN made zero; Transposes before and behind it, and a Split of queries, keys and values that were one product. Scores that something else reads stay as they are, as do heads whose number is not known. What
// `serves` refuses stays, too, and a note of the context's ledger says why. Expects CanonicalizeOps and DeadCode.
absl::StatusOr<Graph> FuseAttention(Graph graph, const PassContext& context,
                                    const ServesAttention& serves);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_FUSE_ATTENTION_PASS_H_
