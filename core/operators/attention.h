// Attention, LinearAttention, RotaryEmbedding and slipway.BlockAttention.
//
// slipway.BlockAttention is softmax(scale * Q K^T + mask) V of f32, computed for a block of queries at a time. Inputs: queries, keys,
// values, each of rank 4, its dimensions batch, head, position and item in the order that an attribute tells ("query_order",
// "key_order", "value_order", 0 to 3), as are those of the output ("output_order"); and optionally a mask, which broadcasts to [batch,
// head, query, key]: numbers are added to scores, scores where a bool is false are "filling". An operand may have more heads than take
// part: "heads" of queries and "key_heads" of keys and values, which divide them, from "first_heads" on (one for each operand).
// With "is_causal" query i sees keys up to i + "past_keys" alone, a number that may be negative: scores of keys behind are minus infinity, whatever
// the mask says; or "behind", where that is a finite number, to which the mask adds as it does to others. With "nan_is_zero" probabilities that are NaN are 0, as those are of queries that see no key.
#ifndef SLIPWAY_CORE_OPERATORS_ATTENTION_H_
#define SLIPWAY_CORE_OPERATORS_ATTENTION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// What the optional fourth output of Attention holds.
enum class AttentionScores { kProducts = 0, kCapped = 1, kBiased = 2, kProbabilities = 3 };

// Attention's attributes, with those that tensors of rank 4 say themselves.
struct AttentionView {
  int64_t query_heads = 1;
  int64_t key_heads = 1;  // Divides query_heads.
  bool causal = false;
  int64_t left_window =
      -1;  // Keys that are seen before and after a query's own position; -1 for all.
  int64_t right_window = -1;
  double scale = 1;  // Of the products of queries and keys.
  double softcap = 0;
  DataType softmax_type = DataType::kInvalid;  // What scores are rounded to before the softmax.
  AttentionScores scores = AttentionScores::kProducts;
};
absl::StatusOr<AttentionView> DecodeAttention(const NodeView& view);

// Of a BlockAttention's "past_keys", on either side of 0.
inline constexpr int64_t kMostPastKeys = int64_t{1} << 40;

enum BlockOperand { kQueries = 0, kKeys, kValues, kMixed };
enum BlockAxis { kBatch = 0, kHead, kPosition, kItem };
struct BlockAttentionView {
  int64_t heads = 1;
  int64_t key_heads = 1;
  std::vector<int64_t> orders[4];    // By BlockOperand: the axis that each dimension is.
  std::vector<int64_t> first_heads;  // Of queries, keys and values.
  double scale = 1;
  double filling = 0;
  bool nan_is_zero = false;
  std::optional<int64_t> past_keys;  // Where it is causal: query i sees keys up to i + past_keys.
  // What scores of keys behind these are before the mask is added, where they are not minus infinity: finite.
  std::optional<double> behind;

  // Whether queries read what is behind the keys that they see.
  bool reads_all() const { return !past_keys.has_value() || behind.has_value(); }
};
absl::StatusOr<BlockAttentionView> DecodeBlockAttention(const NodeView& view);

// The recurrence of LinearAttention over the state of each head.
struct LinearAttentionView {
  int64_t query_heads = 1;
  int64_t key_heads = 1;  // Divides query_heads.
  bool gated = false;     // The state decays, by input 4.
  bool delta = false;  // What the state already says of a key is taken off its value; by input 5.
  double scale = 1;
};
absl::StatusOr<LinearAttentionView> DecodeLinearAttention(const NodeView& view);

struct RotaryView {
  int64_t heads = 1;
  int64_t rotated = 0;  // How many elements of each head are turned: an even number; 0 for all.
  bool interleaved = false;
};
absl::StatusOr<RotaryView> DecodeRotary(const NodeView& view);

absl::Status RegisterAttentionOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_ATTENTION_H_
