#include "core/operators/attention.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/status_macros.h"
#include "core/kernels/attention.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Attention(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const AttentionView attention, DecodeAttention(view));
  parameters.Add(attention.query_heads);
  parameters.Add(attention.key_heads);
  parameters.Add(attention.causal);
  parameters.Add(attention.left_window);
  parameters.Add(attention.right_window);
  parameters.Add(static_cast<int64_t>(attention.softmax_type));
  parameters.Add(static_cast<int64_t>(attention.scores));
  parameters.AddReal(attention.scale);
  parameters.AddReal(attention.softcap);
  return absl::OkStatus();
}

absl::Status BlockAttention(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const BlockAttentionView attention, DecodeBlockAttention(view));
  parameters.Add(attention.heads);
  parameters.Add(attention.key_heads);
  for (const std::vector<int64_t>& order : attention.orders) parameters.AddAll(order);
  parameters.AddAll(attention.first_heads);
  parameters.Add(attention.nan_is_zero);
  parameters.Add(attention.past_keys.value_or(kMostPastKeys));
  parameters.AddReal(attention.scale);
  parameters.AddReal(attention.filling);
  parameters.AddReal(attention.behind.value_or(-std::numeric_limits<double>::infinity()));
  return absl::OkStatus();
}

absl::Status LinearAttention(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const LinearAttentionView attention, DecodeLinearAttention(view));
  if (attention.scale == 0) {
    return view.Unimplemented("heads whose size is not known are not supported");
  }
  parameters.Add(attention.query_heads);
  parameters.Add(attention.key_heads);
  parameters.AddReal(attention.scale);
  return absl::OkStatus();
}

absl::Status Rotary(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const RotaryView rotary, DecodeRotary(view));
  if (rotary.heads == 0) {
    return view.Unimplemented("heads whose number and size are not known are not supported");
  }
  parameters.Add(rotary.heads);
  parameters.Add(rotary.rotated);
  parameters.Add(rotary.interleaved);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterAttentionKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("Attention", CallableKernel{"slipway_Attention", slipway_Attention, Attention}));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add(
      "slipway.BlockAttention",
      CallableKernel{"slipway_BlockAttention", slipway_BlockAttention, BlockAttention}));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add(
      "LinearAttention",
      CallableKernel{"slipway_LinearAttention", slipway_LinearAttention, LinearAttention}));
  return kernels.Add("RotaryEmbedding",
                     CallableKernel{"slipway_RotaryEmbedding", slipway_RotaryEmbedding, Rotary});
}

}  // namespace slipway
