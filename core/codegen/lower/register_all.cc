#include "core/codegen/lower/register_all.h"

#include "core/codegen/lower/families.h"

namespace slipway {
namespace {

constexpr OperatorFamily<Lowerings> kFamilies[] = {
    {"activation", RegisterActivationLowerings},
    {"arithmetic", RegisterArithmeticLowerings},
    {"cast", RegisterCastLowerings},
    {"constants", RegisterConstantsLowerings},
    {"convolution", RegisterConvolutionLowerings},
    {"elementwise", RegisterElementwiseLowerings},
    {"layout", RegisterLayoutLowerings},
    {"logic", RegisterLogicLowerings},
    {"matrix", RegisterMatrixLowerings},
    {"movement", RegisterMovementLowerings},
    {"normalization", RegisterNormalizationLowerings},
    {"pooling", RegisterPoolingLowerings},
    {"quantization", RegisterQuantizationLowerings},
    {"quantized", RegisterQuantizedLowerings},
    {"reduction", RegisterReductionLowerings},
    {"reshaping", RegisterReshapingLowerings},
    {"resize", RegisterResizeLowerings},
};

}  // namespace

absl::Span<const OperatorFamily<Lowerings>> LoweringFamilies() { return kFamilies; }

absl::Status RegisterAllLowerings(Lowerings& lowerings) {
  return AddFamilies(kFamilies, lowerings);
}

}  // namespace slipway
