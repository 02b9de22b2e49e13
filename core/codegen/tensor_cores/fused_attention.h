// FusedAttention: softmax(scale * Q K^T + mask) V as numbers alone: what a template for tensor cores is filled in with.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_FUSED_ATTENTION_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_FUSED_ATTENTION_H_

#include <array>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// Element (batch, head, position, item) lies so many elements behind the tensor's first one.
struct AttentionTensor {
  int64_t first = 0;                    // Element (0, 0, 0, 0).
  std::array<int64_t, 4> strides = {};  // By BlockAxis (core/operators/attention.h).
};

// Added to scores, or what says where they stay: an element for each batch, head, query and key, in this order of strides, 0 along those that it repeats.
struct AttentionMask {
  AttentionTensor tensor;
  bool is_condition = false;
};

// Every extent is at least 1, and every tensor has less than 2^31 bytes.
struct FusedAttention {
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t key_heads = 1;  // Divides `heads`.
  int64_t queries = 1;
  int64_t keys = 1;
  int64_t size = 16;        // Of a query and a key: a multiple of 16, up to 128,
  int64_t value_size = 16;  // and so is this of a value.
  AttentionTensor q, k, v, y;
  std::optional<AttentionMask> mask;
  float scale = 1;
  float filling = 0;         // Of scores where a condition does not hold.
  bool nan_is_zero = false;  // Whether probabilities that are no numbers are 0.
  // Where not every query sees every key: query i sees those up to i + past_keys; at least -queries, less than keys - 1.
  std::optional<int64_t> past_keys;
  // What scores of others are before the mask is added, which there is then; unset where these are left out.
  std::optional<float> behind;
};

// Of a slipway.BlockAttention. UNIMPLEMENTED says, for people, what the template does not serve: "heads of 20 numbers".
absl::StatusOr<FusedAttention> DecodeFusedAttention(const NodeView& view);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_FUSED_ATTENTION_H_
