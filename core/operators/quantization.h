// Between real numbers and their quantized form: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.
#ifndef SLIPWAY_CORE_OPERATORS_QUANTIZATION_H_
#define SLIPWAY_CORE_OPERATORS_QUANTIZATION_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// How many elements share a scale and a zero point.
enum class Granularity { kTensor = 0, kAxis = 1, kBlock = 2 };

// QuantizeLinear and DequantizeLinear: real = (stored - zero point) * scale.
struct QuantizationView {
  Granularity granularity = Granularity::kTensor;
  int64_t axis = 0;                      // kAxis, kBlock
  int64_t block = 1;                     // kBlock: how many elements along the axis share a scale.
  DataType output = DataType::kInvalid;  // The element type that is made.
  // QuantizeLinear: the type whose precision the quotient has, and whether 8-bit floats saturate.
  DataType precision = DataType::kInvalid;
  bool saturate = true;
};
absl::StatusOr<QuantizationView> DecodeQuantization(const NodeView& view);

// Whether it is one of the two with several scales, which stand along an axis and are not broadcast as other inputs are.
bool HasScalesAlongAxis(const NodeView& view);

absl::Status RegisterQuantizationOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_QUANTIZATION_H_
