#include "core/codegen/tensor_cores/fused_attention.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/attention.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

namespace slipway {
namespace {

// What one mma takes of the depth, of the widest numbers twice; and what registers hold of sums.
constexpr int64_t kSizeStep = 16;
constexpr int64_t kMostSize = 128;
constexpr int64_t kMostBytes = std::numeric_limits<int32_t>::max();
constexpr int64_t kBytesOfFloat = 4;

using Extents = std::array<int64_t, 4>;  // By BlockAxis.

absl::Status CheckTensor(const ValueType& type) {
  if (!type.is_static()) return absl::UnimplementedError("its extents are open");
  if (type.byte_size() == 0) return absl::UnimplementedError("it has no element");
  if (type.byte_size() > kMostBytes) {
    return absl::UnimplementedError("a tensor of it has 2^31 bytes or more");
  }
  return absl::OkStatus();
}

absl::Status CheckSize(int64_t size) {
  if (size % kSizeStep == 0 && size <= kMostSize) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "heads of ", size, " numbers, which are no multiple of ", kSizeStep, " up to ", kMostSize));
}

// Of a tensor whose dimensions are these axes.
AttentionTensor TensorOf(const Shape& shape, const std::vector<int64_t>& order,
                         int64_t first_head) {
  AttentionTensor tensor;
  int64_t stride = 1;
  for (size_t d = order.size(); d-- > 0;) {
    tensor.strides[static_cast<size_t>(order[d])] = stride;
    stride *= shape[d];
  }
  tensor.first = first_head * tensor.strides[kHead];
  return tensor;
}

Extents ExtentsOf(const Shape& shape, const std::vector<int64_t>& order) {
  Extents extents = {};
  for (size_t d = 0; d < order.size(); ++d) extents[static_cast<size_t>(order[d])] = shape[d];
  return extents;
}

AttentionMask MaskOf(const ValueType& type) {
  AttentionMask mask;
  mask.is_condition = type.dtype() == DataType::kBool;
  int64_t stride = 1;
  for (size_t d = type.shape().size(); d-- > 0;) {
    const int64_t extent = type.shape()[d];
    mask.tensor.strides[d] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
  return mask;
}

}  // namespace

absl::StatusOr<FusedAttention> DecodeFusedAttention(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const BlockAttentionView attention, DecodeBlockAttention(view));
  for (int i = 0; i < view.num_inputs(); ++i) {
    if (view.has_input(i)) SLIPWAY_RETURN_IF_ERROR(CheckTensor(view.input_type(i)));
  }
  const auto operand = [&](BlockOperand i) {
    return TensorOf(view.input_shape(i), attention.orders[i],
                    attention.first_heads[static_cast<size_t>(i)]);
  };
  const auto extents = [&](BlockOperand i) {
    return ExtentsOf(view.input_shape(i), attention.orders[i]);
  };
  FusedAttention fused;
  fused.batch = extents(kQueries)[kBatch];
  fused.heads = attention.heads;
  fused.key_heads = attention.key_heads;
  fused.queries = extents(kQueries)[kPosition];
  fused.keys = extents(kKeys)[kPosition];
  fused.size = extents(kKeys)[kItem];
  fused.value_size = extents(kValues)[kItem];
  fused.q = operand(kQueries);
  fused.k = operand(kKeys);
  fused.v = operand(kValues);
  fused.scale = static_cast<float>(attention.scale);
  fused.filling = static_cast<float>(attention.filling);
  fused.nan_is_zero = attention.nan_is_zero;
  if (attention.past_keys.value_or(fused.keys) < fused.keys - 1) {
    fused.past_keys = std::max(*attention.past_keys, -fused.queries);
    if (attention.behind.has_value()) fused.behind = static_cast<float>(*attention.behind);
  }
  if (view.has_input(kMixed)) fused.mask = MaskOf(view.input_type(kMixed));
  if (fused.behind.has_value() && !fused.mask.has_value()) {
    return absl::UnimplementedError("scores that are a number, without a mask");
  }
  SLIPWAY_RETURN_IF_ERROR(CheckSize(fused.size));
  SLIPWAY_RETURN_IF_ERROR(CheckSize(fused.value_size));
  const Extents all = {fused.batch, fused.heads, fused.queries, fused.value_size};
  Shape shape;
  for (const int64_t axis : attention.orders[kMixed]) {
    shape.push_back(all[static_cast<size_t>(axis)]);
  }
  if (NumElements(shape) > kMostBytes / kBytesOfFloat) {
    return absl::UnimplementedError("its result has 2^31 bytes or more");
  }
  fused.y = TensorOf(shape, attention.orders[kMixed], 0);
  return fused;
}

}  // namespace slipway
