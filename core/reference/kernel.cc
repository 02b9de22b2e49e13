#include "core/reference/kernel.h"

#include "core/base/status_macros.h"
#include "core/reference/families.h"

namespace slipway {

absl::Status RegisterAllKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(RegisterArithmeticKernels(kernels));
  SLIPWAY_RETURN_IF_ERROR(RegisterConstantKernels(kernels));
  SLIPWAY_RETURN_IF_ERROR(RegisterConvolutionKernels(kernels));
  SLIPWAY_RETURN_IF_ERROR(RegisterElementwiseKernels(kernels));
  SLIPWAY_RETURN_IF_ERROR(RegisterLayoutKernels(kernels));
  SLIPWAY_RETURN_IF_ERROR(RegisterMatrixKernels(kernels));
  SLIPWAY_RETURN_IF_ERROR(RegisterMovementKernels(kernels));
  SLIPWAY_RETURN_IF_ERROR(RegisterNormalizationKernels(kernels));
  SLIPWAY_RETURN_IF_ERROR(RegisterPoolingKernels(kernels));
  SLIPWAY_RETURN_IF_ERROR(RegisterReductionKernels(kernels));
  return RegisterReshapingKernels(kernels);
}

}  // namespace slipway
