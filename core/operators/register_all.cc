#include "core/operators/register_all.h"

#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/operators/arithmetic.h"
#include "core/operators/constants.h"
#include "core/operators/convolution.h"
#include "core/operators/elementwise.h"
#include "core/operators/fused.h"
#include "core/operators/layout.h"
#include "core/operators/matrix.h"
#include "core/operators/movement.h"
#include "core/operators/normalization.h"
#include "core/operators/pooling.h"
#include "core/operators/reduction.h"
#include "core/operators/reshaping.h"

namespace slipway {

absl::Status RegisterAllOperators(OperatorRegistry& registry) {
  SLIPWAY_RETURN_IF_ERROR(RegisterArithmeticOperators(registry));
  SLIPWAY_RETURN_IF_ERROR(RegisterConstantOperators(registry));
  SLIPWAY_RETURN_IF_ERROR(RegisterConvolutionOperators(registry));
  SLIPWAY_RETURN_IF_ERROR(RegisterElementwiseOperators(registry));
  SLIPWAY_RETURN_IF_ERROR(RegisterFusedOperator(registry));
  SLIPWAY_RETURN_IF_ERROR(RegisterLayoutOperators(registry));
  SLIPWAY_RETURN_IF_ERROR(RegisterMatrixOperators(registry));
  SLIPWAY_RETURN_IF_ERROR(RegisterMovementOperators(registry));
  SLIPWAY_RETURN_IF_ERROR(RegisterNormalizationOperators(registry));
  SLIPWAY_RETURN_IF_ERROR(RegisterPoolingOperators(registry));
  SLIPWAY_RETURN_IF_ERROR(RegisterReductionOperators(registry));
  return RegisterReshapingOperators(registry);
}

OperatorRegistry StandardOperators() {
  OperatorRegistry registry;
  const absl::Status registered = RegisterAllOperators(registry);
  SLIPWAY_CHECK(registered.ok(), registered.message());
  return registry;
}

}  // namespace slipway
