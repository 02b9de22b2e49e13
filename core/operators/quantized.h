// Products of quantized tensors: ConvInteger, QLinearConv, MatMulInteger, QLinearMatMul.
#ifndef SLIPWAY_CORE_OPERATORS_QUANTIZED_H_
#define SLIPWAY_CORE_OPERATORS_QUANTIZED_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"
#include "core/operators/window.h"

namespace slipway {

// ConvInteger and QLinearConv: what of the node its shapes do not say.
struct QuantizedConvView {
  int64_t group = 1;
  BasicWindow<Dimension> window;
};
absl::StatusOr<QuantizedConvView> DecodeQuantizedConv(const NodeView& view);

absl::Status RegisterQuantizedOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_QUANTIZED_H_
