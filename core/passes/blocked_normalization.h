// InstanceNormalization and GroupNormalization of images whose channels lie in blocks.
#ifndef SLIPWAY_CORE_PASSES_BLOCKED_NORMALIZATION_H_
#define SLIPWAY_CORE_PASSES_BLOCKED_NORMALIZATION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/graph/graph.h"
#include "core/passes/graph_rewriter.h"

namespace slipway {

struct BlockedNormalization {
  ValueId x = kNoValue;      // f32[N, channels / block, H, W, block].
  ValueId scale = kNoValue;  // f32[channels].
  ValueId bias = kNoValue;   // f32[channels].
  int64_t channels = 0;
  int64_t block = 1;
  int64_t group = 1;  // Channels whose mean and variance are the same; need not fit the blocks.
  float epsilon = 0;
};

// (x - mean) / sqrt(variance + epsilon) * scale + bias in x's layout, of operators that FuseOps makes three passes over x: means of
// rows and then of columns, each a sum of few numbers; the same of squares; and the result, with what follows it.
absl::StatusOr<ValueId> AddBlockedNormalization(GraphRewriter& rewriter,
                                                const BlockedNormalization& normalization,
                                                absl::string_view name);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_BLOCKED_NORMALIZATION_H_
