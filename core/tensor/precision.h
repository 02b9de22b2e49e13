// Precision: in which numbers products of f32 are made.
#ifndef SLIPWAY_CORE_TENSOR_PRECISION_H_
#define SLIPWAY_CORE_TENSOR_PRECISION_H_

#include <optional>

#include "absl/strings/string_view.h"

namespace slipway {

// A way to multiply, which is no type of elements: tf32 is f32 in memory. Sums, and what is no product, are f32. Numbers are written into graphs: none changes.
enum class Precision {
  kFloat32 = 0,
  kTensorFloat32 = 1,  // Factors rounded to 11 significant bits, with the exponents of f32.
  kFloat16 = 2,
  kBfloat16 = 3,
  kInt8 = 4,  // Whose ranges are known (core/passes/quantize_pass.h).
};

// "f32", "tf32", "f16", "bf16", "int8".
absl::string_view Name(Precision precision);
// Absent for what is no name.
std::optional<Precision> FindPrecision(absl::string_view name);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TENSOR_PRECISION_H_
