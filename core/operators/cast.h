// From one element type to another: Cast, CastLike, slipway.RoundToBfloat16.
//   slipway.RoundToBfloat16: x of f32 as the nearest bf16, of two the even one, or 0 where it is subnormal, as is open: instructions that
//     multiply bf16 take such numbers for 0.
#ifndef SLIPWAY_CORE_OPERATORS_CAST_H_
#define SLIPWAY_CORE_OPERATORS_CAST_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// How f8e8m0 rounds the values of numbers; ties go up.
enum class CastRounding { kUp = 0, kDown = 1, kNearest = 2 };

// Cast, and CastLike, whose element type is that of input 1.
struct CastView {
  DataType to = DataType::kInvalid;
  bool saturate = true;  // Floats of 8 bits only: what is too large becomes the largest number.
  CastRounding rounding = CastRounding::kUp;
};
absl::StatusOr<CastView> DecodeCast(const NodeView& view);

absl::Status RegisterCastOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_CAST_H_
