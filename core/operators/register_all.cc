#include "core/operators/register_all.h"

#include "core/base/check.h"
#include "core/operators/arithmetic.h"
#include "core/operators/bits.h"
#include "core/operators/cast.h"
#include "core/operators/constants.h"
#include "core/operators/convolution.h"
#include "core/operators/elementwise.h"
#include "core/operators/fused.h"
#include "core/operators/indexing.h"
#include "core/operators/layout.h"
#include "core/operators/logic.h"
#include "core/operators/matrix.h"
#include "core/operators/movement.h"
#include "core/operators/normalization.h"
#include "core/operators/pooling.h"
#include "core/operators/rearrangement.h"
#include "core/operators/reduction.h"
#include "core/operators/reshaping.h"
#include "core/operators/selection.h"

namespace slipway {
namespace {

constexpr OperatorFamily<OperatorRegistry> kFamilies[] = {
    {"arithmetic", RegisterArithmeticOperators},
    {"bits", RegisterBitsOperators},
    {"cast", RegisterCastOperators},
    {"constants", RegisterConstantsOperators},
    {"convolution", RegisterConvolutionOperators},
    {"elementwise", RegisterElementwiseOperators},
    {"fused", RegisterFusedOperators},
    {"indexing", RegisterIndexingOperators},
    {"layout", RegisterLayoutOperators},
    {"logic", RegisterLogicOperators},
    {"matrix", RegisterMatrixOperators},
    {"movement", RegisterMovementOperators},
    {"normalization", RegisterNormalizationOperators},
    {"pooling", RegisterPoolingOperators},
    {"rearrangement", RegisterRearrangementOperators},
    {"reduction", RegisterReductionOperators},
    {"reshaping", RegisterReshapingOperators},
    {"selection", RegisterSelectionOperators},
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
