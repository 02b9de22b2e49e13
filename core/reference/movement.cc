#include "core/operators/movement.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/kernels/broadcast.h"
#include "core/kernels/movement.h"
#include "core/reference/dispatch.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

using kernels::StridedCopy;

absl::Status Transpose(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, DecodeTranspose(call.view));
  const Tensor& x = *call.inputs[0];
  Tensor& y = call.outputs[0];
  const Shape from = RowMajorStrides(x.shape());
  Shape strides;
  for (const int64_t d : perm) strides.push_back(from[d]);
  StridedCopy(ByteSize(x.dtype()), y.shape(), x.bytes().data(), strides, y.mutable_bytes(),
              RowMajorStrides(y.shape()));
  return absl::OkStatus();
}

absl::Status Concat(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeConcat(call.view));
  Tensor& y = call.outputs[0];
  const int64_t bytes = ByteSize(y.dtype());
  const Shape to = RowMajorStrides(y.shape());
  int64_t position = 0;
  for (const Tensor* x : call.inputs) {
    StridedCopy(bytes, x->shape(), x->bytes().data(), RowMajorStrides(x->shape()),
                y.mutable_bytes() + position * to[axis] * bytes, to);
    position += x->shape()[axis];
  }
  return absl::OkStatus();
}

absl::Status Split(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const SplitView split, DecodeSplit(call.view));
  const Tensor& x = *call.inputs[0];
  const int64_t bytes = ByteSize(x.dtype());
  const Shape from = RowMajorStrides(x.shape());
  int64_t position = 0;
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    Tensor& y = call.outputs[i];
    if (y.is_set()) {
      StridedCopy(bytes, y.shape(), x.bytes().data() + position * from[split.axis] * bytes, from,
                  y.mutable_bytes(), RowMajorStrides(y.shape()));
    }
    position += split.extents[i];
  }
  return absl::OkStatus();
}

absl::Status Slice(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const SliceView slice, DecodeSlice(call.view));
  const Tensor& x = *call.inputs[0];
  Tensor& y = call.outputs[0];
  const int64_t bytes = ByteSize(x.dtype());
  const Shape from = RowMajorStrides(x.shape());
  Shape strides;
  int64_t offset = 0;
  for (size_t d = 0; d < from.size(); ++d) {
    // Where there is at most one element along it, the step is not taken and may be anything.
    strides.push_back(slice.output[d] > 1 ? from[d] * slice.steps[d] : 0);
    offset += slice.starts[d] * from[d];
  }
  StridedCopy(bytes, y.shape(), x.bytes().data() + offset * bytes, strides, y.mutable_bytes(),
              RowMajorStrides(y.shape()));
  return absl::OkStatus();
}

absl::Status Expand(const KernelCall& call) {
  const Tensor& x = *call.inputs[0];
  Tensor& y = call.outputs[0];
  StridedCopy(ByteSize(x.dtype()), y.shape(), x.bytes().data(),
              kernels::BroadcastStrides(x.shape(), y.shape()), y.mutable_bytes(),
              RowMajorStrides(y.shape()));
  return absl::OkStatus();
}

absl::Status Gather(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeGather(call.view));
  const Tensor& x = *call.inputs[0];
  const Tensor& indices = *call.inputs[1];
  Tensor& y = call.outputs[0];
  const absl::Span<const int64_t> shape = x.shape();
  const int64_t extent = shape[axis];
  const int64_t outer = NumElements(shape.subspan(0, axis));
  const int64_t piece = NumElements(shape.subspan(axis + 1)) * ByteSize(x.dtype());
  char* to = y.mutable_bytes();
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < indices.num_elements(); ++i, to += piece) {
      int64_t index = indices.dtype() == DataType::kInt64 ? indices.values<int64_t>()[i]
                                                          : indices.values<int32_t>()[i];
      if (index < -extent || index >= extent) {
        return call.view.Error(
            absl::StrCat("index ", index, " is outside [", -extent, ", ", extent, ")"));
      }
      if (index < 0) index += extent;
      const char* from = x.bytes().data() + (o * extent + index) * piece;
      std::copy(from, from + piece, to);
    }
  }
  return absl::OkStatus();
}

kernels::PadMode ModeOf(PadView::Mode mode) {
  switch (mode) {
    case PadView::Mode::kConstant:
      return kernels::PadMode::kConstant;
    case PadView::Mode::kReflect:
      return kernels::PadMode::kReflect;
    case PadView::Mode::kEdge:
      return kernels::PadMode::kEdge;
    case PadView::Mode::kWrap:
      break;
  }
  return kernels::PadMode::kWrap;
}

absl::Status Pad(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const PadView pad, DecodePad(call.view));
  const Tensor& x = *call.inputs[0];
  Tensor& y = call.outputs[0];
  const int64_t bytes = ByteSize(x.dtype());
  const bool has_value = call.inputs.size() > 2 && call.inputs[2] != nullptr;
  const std::string value =
      has_value ? std::string(call.inputs[2]->bytes()) : std::string(bytes, '\0');
  kernels::Pad(bytes, ModeOf(pad.mode), x.shape(), pad.begins, y.shape(), x.bytes().data(),
               value.data(), y.mutable_bytes());
  return absl::OkStatus();
}

// Both walk over [N, C, H, W, bh, bw] of the small image with its block unfolded.
absl::Status MoveBlocks(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const BlockMoveView move, DecodeBlockMove(call.view));
  const bool to_space = call.view.op() == "DepthToSpace";
  const Tensor& x = *call.inputs[0];
  Tensor& y = call.outputs[0];
  const Shape& deep = to_space ? x.shape() : y.shape();
  const int64_t b = move.block;
  const int64_t channels = deep[1] / (b * b);
  const int64_t area = deep[2] * deep[3];
  const Shape walked = {deep[0], channels, deep[2], deep[3], b, b};
  // Channel of the deep image: position * channels + c, or c * b * b + position.
  const int64_t channel_step = move.channel_major ? b * b : 1;
  const int64_t position_step = move.channel_major ? 1 : channels;
  const Shape deep_strides = {deep[1] * area,           channel_step * area, deep[3], 1,
                              b * position_step * area, position_step * area};
  const int64_t row = deep[3] * b;
  const Shape wide_strides = {deep[1] * area, area * b * b, row * b, b, row, 1};
  StridedCopy(ByteSize(x.dtype()), walked, x.bytes().data(), to_space ? deep_strides : wide_strides,
              y.mutable_bytes(), to_space ? wide_strides : deep_strides);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterMovementKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Transpose", Transpose));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Concat", Concat));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Split", Split));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Slice", Slice));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Gather", Gather));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Expand", Expand));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Pad", Pad));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("DepthToSpace", MoveBlocks));
  return kernels.Add("SpaceToDepth", MoveBlocks);
}

}  // namespace slipway
