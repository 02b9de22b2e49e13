#include "core/reference/register_all.h"

#include "core/reference/families.h"

namespace slipway {
namespace {

constexpr OperatorFamily<KernelColumn> kFamilies[] = {
    {"arithmetic", RegisterArithmeticKernels},
    {"bits", RegisterBitsKernels},
    {"cast", RegisterCastKernels},
    {"constants", RegisterConstantsKernels},
    {"convolution", RegisterConvolutionKernels},
    {"elementwise", RegisterElementwiseKernels},
    {"indexing", RegisterIndexingKernels},
    {"layout", RegisterLayoutKernels},
    {"logic", RegisterLogicKernels},
    {"matrix", RegisterMatrixKernels},
    {"movement", RegisterMovementKernels},
    {"normalization", RegisterNormalizationKernels},
    {"pooling", RegisterPoolingKernels},
    {"rearrangement", RegisterRearrangementKernels},
    {"reduction", RegisterReductionKernels},
    {"reshaping", RegisterReshapingKernels},
    {"selection", RegisterSelectionKernels},
};

}  // namespace

absl::Span<const OperatorFamily<KernelColumn>> KernelFamilies() { return kFamilies; }

absl::Status RegisterAllKernels(KernelColumn& kernels) { return AddFamilies(kFamilies, kernels); }

}  // namespace slipway
