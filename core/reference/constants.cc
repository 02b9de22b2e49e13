#include "core/operators/constants.h"

#include <cstring>

#include "absl/strings/str_cat.h"
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

absl::Status ConstantOfShape(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const Tensor element, DecodeConstantOfShape(view));
  int64_t bytes[2] = {};
  if (element.byte_size() > static_cast<int64_t>(sizeof(bytes))) {
    return view.Unimplemented(absl::StrCat("elements of ", element.byte_size(), " bytes"));
  }
  std::memcpy(bytes, element.bytes().data(), element.byte_size());
  parameters.AddAll(bytes);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterConstantsKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Constant", Constant));
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("ConstantOfShape",
                  CallableKernel{"slipway_ConstantOfShape", slipway_ConstantOfShape,
                                 ConstantOfShape, "slipway_ConstantOfShape_extents",
                                 slipway_ConstantOfShape_extents, CallableKernel::Finds::kEvery}));
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("EyeLike", CallableKernel{"slipway_EyeLike", slipway_EyeLike, EyeLike}));
  return kernels.Add("Range", CallableKernel{"slipway_Range", slipway_Range, nullptr,
                                             "slipway_Range_count", slipway_Range_count});
}

}  // namespace slipway
