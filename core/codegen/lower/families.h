// The families' registrations, listed by register_all.cc. Private to this folder.
#ifndef SLIPWAY_CORE_CODEGEN_LOWER_FAMILIES_H_
#define SLIPWAY_CORE_CODEGEN_LOWER_FAMILIES_H_

#include "absl/status/status.h"
#include "core/codegen/lowering.h"

namespace slipway {

absl::Status RegisterActivationLowerings(Lowerings& lowerings);
absl::Status RegisterArithmeticLowerings(Lowerings& lowerings);
absl::Status RegisterCastLowerings(Lowerings& lowerings);
absl::Status RegisterConstantsLowerings(Lowerings& lowerings);
absl::Status RegisterConvolutionLowerings(Lowerings& lowerings);
absl::Status RegisterElementwiseLowerings(Lowerings& lowerings);
absl::Status RegisterLayoutLowerings(Lowerings& lowerings);
absl::Status RegisterLogicLowerings(Lowerings& lowerings);
absl::Status RegisterMatrixLowerings(Lowerings& lowerings);
absl::Status RegisterMovementLowerings(Lowerings& lowerings);
absl::Status RegisterNormalizationLowerings(Lowerings& lowerings);
absl::Status RegisterPoolingLowerings(Lowerings& lowerings);
absl::Status RegisterQuantizationLowerings(Lowerings& lowerings);
absl::Status RegisterQuantizedLowerings(Lowerings& lowerings);
absl::Status RegisterReductionLowerings(Lowerings& lowerings);
absl::Status RegisterReshapingLowerings(Lowerings& lowerings);
absl::Status RegisterResizeLowerings(Lowerings& lowerings);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LOWER_FAMILIES_H_
