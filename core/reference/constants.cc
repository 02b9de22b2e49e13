#include "core/operators/constants.h"

#include <cstring>

#include "core/base/status_macros.h"
#include "core/kernels/constants.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Constant(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(call.outputs[0], DecodeConstant(call.view));
  return absl::OkStatus();
}

absl::Status EyeLike(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(view.Int("k"));
  return absl::OkStatus();
}

absl::Status ConstantOfShape(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const Tensor element, DecodeConstantOfShape(call.view));
  Tensor& output = call.outputs[0];
  const int64_t bytes = element.byte_size();
  for (int64_t at = 0; at < output.byte_size(); at += bytes) {
    std::memcpy(output.mutable_bytes() + at, element.bytes().data(), bytes);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterConstantsKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Constant", Constant));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("ConstantOfShape", ConstantOfShape));
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("EyeLike", CallableKernel{"slipway_EyeLike", slipway_EyeLike, EyeLike}));
  return kernels.Add("Range", CallableKernel{"slipway_Range", slipway_Range, nullptr});
}

}  // namespace slipway
