#include "core/operators/training.h"

#include "core/base/status_macros.h"
#include "core/kernels/training.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Adagrad(const NodeView& view, KernelParameters& parameters) {
  for (const char* name : {"decay_factor", "epsilon", "norm_coefficient"}) {
    parameters.AddReal(view.Float(name));
  }
  return absl::OkStatus();
}

absl::Status Adam(const NodeView& view, KernelParameters& parameters) {
  for (const char* name :
       {"alpha", "beta", "epsilon", "norm_coefficient", "norm_coefficient_post"}) {
    parameters.AddReal(view.Float(name));
  }
  return absl::OkStatus();
}

absl::Status Momentum(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const bool nesterov, DecodeNesterov(view));
  for (const char* name : {"alpha", "beta", "norm_coefficient"}) {
    parameters.AddReal(view.Float(name));
  }
  parameters.Add(nesterov);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterTrainingKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("ai.onnx.preview.training.Adagrad",
                                      CallableKernel{"slipway_Adagrad", slipway_Adagrad, Adagrad}));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("ai.onnx.preview.training.Adam",
                                      CallableKernel{"slipway_Adam", slipway_Adam, Adam}));
  return kernels.Add("ai.onnx.preview.training.Momentum",
                     CallableKernel{"slipway_Momentum", slipway_Momentum, Momentum});
}

}  // namespace slipway
