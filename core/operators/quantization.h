// Between real numbers and their quantized form: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, slipway.Lookup.
//   slipway.Lookup: x in u8 or i8; y of x's shape, in the element type "to", u8, i8 or i16: for each code of x what the list
//     "table" of 256 numbers has for it, of which the first is for the least code, and so on.
#ifndef SLIPWAY_CORE_OPERATORS_QUANTIZATION_H_
#define SLIPWAY_CORE_OPERATORS_QUANTIZATION_H_

#include <cstdint>
#include <vector>

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

struct LookupView {
  DataType to = DataType::kInvalid;
  std::vector<int64_t> table;  // kCodes numbers of that type.
};
inline constexpr int64_t kCodes = 256;  // Of 8 bits.
absl::StatusOr<LookupView> DecodeLookup(const NodeView& view);

// Whether it is one of the two with several scales, which stand along an axis and are not broadcast as other inputs are.
bool HasScalesAlongAxis(const NodeView& view);

absl::Status RegisterQuantizationOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_QUANTIZATION_H_
