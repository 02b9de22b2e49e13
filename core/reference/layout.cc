#include "core/operators/layout.h"

#include "core/base/status_macros.h"
#include "core/kernels/movement.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

// Both walk over [N, C/block, block, H, W], once with the strides of the plain layout and once with
// those of the blocked one.
absl::Status Move(const KernelCall& call, const Shape& plain, int64_t block, bool pack) {
  const int64_t area = plain[2] * plain[3];
  const int64_t blocks = plain[1] / block;
  const Shape walked = {plain[0], blocks, block, plain[2], plain[3]};
  const Shape plain_strides = {plain[1] * area, block * area, area, plain[3], 1};
  const Shape packed_strides = {plain[1] * area, block * area, 1, plain[3] * block, block};
  const Tensor& x = *call.inputs[0];
  kernels::StridedCopy(ByteSize(x.dtype()), walked, x.bytes().data(),
                       pack ? plain_strides : packed_strides, call.outputs[0].mutable_bytes(),
                       pack ? packed_strides : plain_strides);
  return absl::OkStatus();
}

absl::Status Pack(const KernelCall& call) {
  return Move(call, call.view.input_shape(0), call.view.Int("block"), true);
}

absl::Status Unpack(const KernelCall& call) {
  return Move(call, call.outputs[0].shape(), call.view.input_shape(0)[4], false);
}

}  // namespace

absl::Status RegisterLayoutKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("slipway.Pack", Pack));
  return kernels.Add("slipway.Unpack", Unpack);
}

}  // namespace slipway
