#include "core/operators/register_all.h"

#include "core/base/check.h"
#include "core/operators/activation.h"
#include "core/operators/arithmetic.h"
#include "core/operators/attention.h"
#include "core/operators/bits.h"
#include "core/operators/cast.h"
#include "core/operators/constants.h"
#include "core/operators/contraction.h"
#include "core/operators/control.h"
#include "core/operators/convolution.h"
#include "core/operators/deconvolution.h"
#include "core/operators/detection.h"
#include "core/operators/elementwise.h"
#include "core/operators/ensemble.h"
#include "core/operators/features.h"
#include "core/operators/fused.h"
#include "core/operators/indexing.h"
#include "core/operators/layout.h"
#include "core/operators/logic.h"
#include "core/operators/loss.h"
#include "core/operators/matrix.h"
#include "core/operators/movement.h"
#include "core/operators/normalization.h"
#include "core/operators/pooling.h"
#include "core/operators/quantization.h"
#include "core/operators/quantized.h"
#include "core/operators/random.h"
#include "core/operators/rearrangement.h"
#include "core/operators/recurrent.h"
#include "core/operators/reduction.h"
#include "core/operators/reshaping.h"
#include "core/operators/resize.h"
#include "core/operators/sampling.h"
#include "core/operators/selection.h"
#include "core/operators/sequence.h"
#include "core/operators/signal.h"
#include "core/operators/strings.h"
#include "core/operators/svm.h"
#include "core/operators/training.h"

namespace slipway {
namespace {

constexpr OperatorFamily<OperatorRegistry> kFamilies[] = {
    {"activation", RegisterActivationOperators},
    {"arithmetic", RegisterArithmeticOperators},
    {"attention", RegisterAttentionOperators},
    {"bits", RegisterBitsOperators},
    {"cast", RegisterCastOperators},
    {"constants", RegisterConstantsOperators},
    {"contraction", RegisterContractionOperators},
    {"control", RegisterControlOperators},
    {"convolution", RegisterConvolutionOperators},
    {"deconvolution", RegisterDeconvolutionOperators},
    {"detection", RegisterDetectionOperators},
    {"elementwise", RegisterElementwiseOperators},
    {"ensemble", RegisterEnsembleOperators},
    {"features", RegisterFeaturesOperators},
    {"fused", RegisterFusedOperators},
    {"indexing", RegisterIndexingOperators},
    {"layout", RegisterLayoutOperators},
    {"logic", RegisterLogicOperators},
    {"loss", RegisterLossOperators},
    {"matrix", RegisterMatrixOperators},
    {"movement", RegisterMovementOperators},
    {"normalization", RegisterNormalizationOperators},
    {"pooling", RegisterPoolingOperators},
    {"quantization", RegisterQuantizationOperators},
    {"quantized", RegisterQuantizedOperators},
    {"random", RegisterRandomOperators},
    {"rearrangement", RegisterRearrangementOperators},
    {"recurrent", RegisterRecurrentOperators},
    {"reduction", RegisterReductionOperators},
    {"reshaping", RegisterReshapingOperators},
    {"resize", RegisterResizeOperators},
    {"sampling", RegisterSamplingOperators},
    {"selection", RegisterSelectionOperators},
    {"sequence", RegisterSequenceOperators},
    {"signal", RegisterSignalOperators},
    {"strings", RegisterStringsOperators},
    {"svm", RegisterSvmOperators},
    {"training", RegisterTrainingOperators},
};

}  // namespace

absl::Span<const OperatorFamily<OperatorRegistry>> OperatorFamilies() { return kFamilies; }

absl::Status RegisterAllOperators(OperatorRegistry& registry) {
  return AddFamilies(kFamilies, registry);
}

OperatorRegistry StandardOperators() {
  OperatorRegistry registry;
  const absl::Status registered = RegisterAllOperators(registry);
  SLIPWAY_CHECK(registered.ok(), registered.message());
  return registry;
}

}  // namespace slipway
