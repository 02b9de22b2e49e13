// The families' registrations, listed by register_all.cc. Private to this folder.
#ifndef SLIPWAY_CORE_REFERENCE_FAMILIES_H_
#define SLIPWAY_CORE_REFERENCE_FAMILIES_H_

#include "absl/status/status.h"
#include "core/reference/kernel.h"

namespace slipway {

absl::Status RegisterActivationKernels(KernelColumn& kernels);
absl::Status RegisterArithmeticKernels(KernelColumn& kernels);
absl::Status RegisterAttentionKernels(KernelColumn& kernels);
absl::Status RegisterBitsKernels(KernelColumn& kernels);
absl::Status RegisterCastKernels(KernelColumn& kernels);
absl::Status RegisterConstantsKernels(KernelColumn& kernels);
absl::Status RegisterContractionKernels(KernelColumn& kernels);
absl::Status RegisterControlKernels(KernelColumn& kernels);
absl::Status RegisterConvolutionKernels(KernelColumn& kernels);
absl::Status RegisterDeconvolutionKernels(KernelColumn& kernels);
absl::Status RegisterDetectionKernels(KernelColumn& kernels);
absl::Status RegisterElementwiseKernels(KernelColumn& kernels);
absl::Status RegisterEnsembleKernels(KernelColumn& kernels);
absl::Status RegisterFeaturesKernels(KernelColumn& kernels);
absl::Status RegisterFusedKernels(KernelColumn& kernels);
absl::Status RegisterIndexingKernels(KernelColumn& kernels);
absl::Status RegisterLayoutKernels(KernelColumn& kernels);
absl::Status RegisterLogicKernels(KernelColumn& kernels);
absl::Status RegisterLossKernels(KernelColumn& kernels);
absl::Status RegisterMatrixKernels(KernelColumn& kernels);
absl::Status RegisterMovementKernels(KernelColumn& kernels);
absl::Status RegisterNormalizationKernels(KernelColumn& kernels);
absl::Status RegisterPoolingKernels(KernelColumn& kernels);
absl::Status RegisterQuantizationKernels(KernelColumn& kernels);
absl::Status RegisterQuantizedKernels(KernelColumn& kernels);
absl::Status RegisterRandomKernels(KernelColumn& kernels);
absl::Status RegisterRearrangementKernels(KernelColumn& kernels);
absl::Status RegisterRecurrentKernels(KernelColumn& kernels);
absl::Status RegisterReductionKernels(KernelColumn& kernels);
absl::Status RegisterReshapingKernels(KernelColumn& kernels);
absl::Status RegisterResizeKernels(KernelColumn& kernels);
absl::Status RegisterSamplingKernels(KernelColumn& kernels);
absl::Status RegisterSelectionKernels(KernelColumn& kernels);
absl::Status RegisterSequenceKernels(KernelColumn& kernels);
absl::Status RegisterSignalKernels(KernelColumn& kernels);
absl::Status RegisterStringsKernels(KernelColumn& kernels);
absl::Status RegisterSvmKernels(KernelColumn& kernels);
absl::Status RegisterTrainingKernels(KernelColumn& kernels);

}  // namespace slipway

#endif  // SLIPWAY_CORE_REFERENCE_FAMILIES_H_
