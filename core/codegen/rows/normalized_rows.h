// NormalizedRows: a group that is one softmax or normalization of rows that lie together, as numbers alone: what a template is filled in with.
#ifndef SLIPWAY_CORE_CODEGEN_ROWS_NORMALIZED_ROWS_H_
#define SLIPWAY_CORE_CODEGEN_ROWS_NORMALIZED_ROWS_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "core/codegen/tensor_cores/tensor_tile.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

struct NormalizedRows {
  enum class Kind {
    kSoftmax,
    kCentered,  // (x - mean) / sqrt(variance + epsilon) * scale + bias: LayerNormalization.
    kSquares,   // x / sqrt(mean of squares + epsilon) * scale: RMSNormalization.
  };
  Kind kind = Kind::kSoftmax;
  int64_t rows = 1;
  int64_t size = 1;                // Of a row.
  int x = 0;                       // By number of the group's input.
  std::optional<int> scale, bias;  // The same: a number for each place of a row.
  float epsilon = 0;
};

// UNIMPLEMENTED says what of the group is no such thing, or is longer than kMostRowSize.
absl::StatusOr<NormalizedRows> DecodeNormalizedRows(const Graph& body,
                                                    const OperatorRegistry& registry);

// How many warps have a row together: 1, of which kRowWarps make a group, or 4 or 8, which are one. An instance keeps its part of a row in registers.
inline constexpr int kRowWarps = 4;
inline constexpr int64_t kMostOfInstance = 32;
inline constexpr int kMostRowWarps = 8;
inline constexpr int64_t kMostRowSize = kMostRowWarps * 32 * kMostOfInstance;
int ChooseWarpsOfRow(const TensorGpu& gpu, int64_t rows, int64_t size);
// Whether that is one of them, and has room for a row.
bool CanShareRow(int warps, int64_t size);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_ROWS_NORMALIZED_ROWS_H_
