// MatMulInteger, where one zero point is enough for all rows.
#include <vector>

#include "core/base/status_macros.h"
#include "core/codegen/lower/families.h"
#include "core/codegen/lower/product.h"

namespace slipway {
namespace {

using Halide::cast;
using Halide::Expr;
using Halide::Func;

constexpr int kLeftZero = 2;
constexpr int kRightZero = 3;

bool IsOne(const NodeView& node, int input) { return NumElements(node.input_shape(input)) == 1; }

// The zero point of a column as a number of 16 bits, which the difference to any byte has.
Expr ZeroPoint(const LoweringContext& context, int input, const Expr& column) {
  std::vector<Expr> at(context.node.input_shape(input).size(), Expr(0));
  if (!IsOne(context.node, input)) at[0] = column;
  return cast<int16_t>(context.inputs[input](at));
}

absl::StatusOr<std::vector<Func>> LowerMatMulInteger(LoweringContext& context) {
  return LowerProduct(context, Halide::Int(32), [&](Expr left, Expr right, Expr column) {
    left = cast<int16_t>(left);
    right = cast<int16_t>(right);
    if (context.node.has_input(kLeftZero)) left -= ZeroPoint(context, kLeftZero, column);
    if (context.node.has_input(kRightZero)) right -= ZeroPoint(context, kRightZero, column);
    return cast<int32_t>(left) * cast<int32_t>(right);
  });
}

absl::Status ServesOneZeroPoint(const NodeView& node, absl::Span<const ValueType> outputs) {
  if (node.has_input(kLeftZero) && !IsOne(node, kLeftZero)) {
    return node.Unimplemented("no kernel can be generated for a zero point a row yet");
  }
  if (node.has_input(kRightZero) && !IsOne(node, kRightZero) &&
      node.input_shape(kRightZero).size() != 1) {
    return node.Unimplemented("no kernel can be generated for zero points a matrix yet");
  }
  return ServesEveryType(node, outputs);
}

}  // namespace

absl::Status RegisterQuantizedLowerings(Lowerings& lowerings) {
  return lowerings.Add("MatMulInteger", Lowering(LowerMatMulInteger).Serving(ServesOneZeroPoint));
}

}  // namespace slipway
