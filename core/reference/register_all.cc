#include "core/reference/register_all.h"

#include "core/reference/families.h"

namespace slipway {
namespace {

constexpr OperatorFamily<KernelColumn> kFamilies[] = {
    {"activation", RegisterActivationKernels},
    {"arithmetic", RegisterArithmeticKernels},
    {"attention", RegisterAttentionKernels},
    {"bits", RegisterBitsKernels},
    {"cast", RegisterCastKernels},
    {"constants", RegisterConstantsKernels},
    {"contraction", RegisterContractionKernels},
    {"control", RegisterControlKernels},
    {"convolution", RegisterConvolutionKernels},
    {"deconvolution", RegisterDeconvolutionKernels},
    {"detection", RegisterDetectionKernels},
    {"elementwise", RegisterElementwiseKernels},
    {"ensemble", RegisterEnsembleKernels},
    {"features", RegisterFeaturesKernels},
    {"fused", RegisterFusedKernels},
    {"indexing", RegisterIndexingKernels},
    {"layout", RegisterLayoutKernels},
    {"logic", RegisterLogicKernels},
    {"loss", RegisterLossKernels},
    {"matrix", RegisterMatrixKernels},
    {"movement", RegisterMovementKernels},
    {"normalization", RegisterNormalizationKernels},
    {"pooling", RegisterPoolingKernels},
    {"quantization", RegisterQuantizationKernels},
    {"quantized", RegisterQuantizedKernels},
    {"random", RegisterRandomKernels},
    {"rearrangement", RegisterRearrangementKernels},
    {"recurrent", RegisterRecurrentKernels},
    {"reduction", RegisterReductionKernels},
    {"reshaping", RegisterReshapingKernels},
    {"resize", RegisterResizeKernels},
    {"sampling", RegisterSamplingKernels},
    {"selection", RegisterSelectionKernels},
    {"sequence", RegisterSequenceKernels},
    {"signal", RegisterSignalKernels},
    {"strings", RegisterStringsKernels},
    {"svm", RegisterSvmKernels},
    {"training", RegisterTrainingKernels},
};

}  // namespace

absl::Span<const OperatorFamily<KernelColumn>> KernelFamilies() { return kFamilies; }

absl::Status RegisterAllKernels(KernelColumn& kernels) { return AddFamilies(kFamilies, kernels); }

}  // namespace slipway
