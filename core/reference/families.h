// The families' registrations, listed by register_all.cc. Private to this folder.
#ifndef SLIPWAY_CORE_REFERENCE_FAMILIES_H_
#define SLIPWAY_CORE_REFERENCE_FAMILIES_H_

#include "absl/status/status.h"
#include "core/reference/kernel.h"

namespace slipway {

absl::Status RegisterArithmeticKernels(KernelColumn& kernels);
absl::Status RegisterBitsKernels(KernelColumn& kernels);
absl::Status RegisterCastKernels(KernelColumn& kernels);
absl::Status RegisterConstantsKernels(KernelColumn& kernels);
absl::Status RegisterConvolutionKernels(KernelColumn& kernels);
absl::Status RegisterElementwiseKernels(KernelColumn& kernels);
absl::Status RegisterIndexingKernels(KernelColumn& kernels);
absl::Status RegisterLayoutKernels(KernelColumn& kernels);
absl::Status RegisterLogicKernels(KernelColumn& kernels);
absl::Status RegisterMatrixKernels(KernelColumn& kernels);
absl::Status RegisterMovementKernels(KernelColumn& kernels);
absl::Status RegisterNormalizationKernels(KernelColumn& kernels);
absl::Status RegisterPoolingKernels(KernelColumn& kernels);
absl::Status RegisterRearrangementKernels(KernelColumn& kernels);
absl::Status RegisterReductionKernels(KernelColumn& kernels);
absl::Status RegisterReshapingKernels(KernelColumn& kernels);
absl::Status RegisterSelectionKernels(KernelColumn& kernels);

}  // namespace slipway

#endif  // SLIPWAY_CORE_REFERENCE_FAMILIES_H_
