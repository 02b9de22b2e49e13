// Casts between the types that generated code knows, bool (one byte, 0 or 1) among them.
#include <cmath>
#include <vector>

#include "core/base/status_macros.h"
#include "core/codegen/bfloat16.h"
#include "core/codegen/float_math.h"
#include "core/codegen/lower/broadcast.h"
#include "core/codegen/lower/families.h"
#include "core/tensor/dtype.h"

namespace slipway {
namespace {

using Halide::cast;
using Halide::Expr;
using Halide::Func;

// A float as an integer: what does not fit becomes the nearest that does, NaN 0.
Expr Saturated(Halide::Type type, const Expr& x) {
  const double end = std::ldexp(1.0, type.bits() - (type.is_int() ? 1 : 0));
  const Expr above = Halide::Internal::make_const(x.type(), end);
  const Expr least = type.is_int() ? -above : Halide::Internal::make_zero(x.type());
  const Expr inside =
      SelectStrictly(x > least, SelectStrictly(x < above, cast(type, x), type.max()), type.min());
  return SelectStrictly(IsNan(x), Halide::Internal::make_zero(type), inside);
}

absl::StatusOr<std::vector<Func>> Cast(LoweringContext& context) {
  const std::vector<Halide::Var> vars = FreshVars(context.output_types[0].rank());
  const Expr x = ReadBroadcast(context.inputs[0], context.node.input_type(0), AsExprs(vars));
  const DataType to = context.output_types[0].dtype();
  SLIPWAY_ASSIGN_OR_RETURN(const Halide::Type type, HalideType(to));
  Func result("cast");
  if (to == DataType::kBool && context.node.input_type(0).dtype() != DataType::kBool) {
    result(vars) = TruthOf(x != Halide::Internal::make_zero(x.type()));
  } else if (to == DataType::kBfloat16) {
    result(vars) = NearestBfloat16(x);
  } else if (x.type().is_float() && !type.is_float()) {
    result(vars) = Saturated(type, x);
  } else {
    result(vars) = cast(type, x);
  }
  return std::vector<Func>{result};
}

absl::StatusOr<std::vector<Func>> RoundToBfloat16(LoweringContext& context) {
  const std::vector<Halide::Var> vars = FreshVars(context.output_types[0].rank());
  Func result("rounded");
  result(vars) = RoundedToBfloat16(
      ReadBroadcast(context.inputs[0], context.node.input_type(0), AsExprs(vars)));
  return std::vector<Func>{result};
}

// bf16 from and to f32 alone.
absl::Status ServesCasts(const NodeView& node, absl::Span<const ValueType> outputs) {
  const DataType from = node.input_type(0).dtype();
  const DataType to = outputs[0].dtype();
  if ((from == DataType::kBfloat16 && to == DataType::kFloat32) ||
      (from == DataType::kFloat32 && to == DataType::kBfloat16)) {
    return absl::OkStatus();
  }
  return ServesEveryType(node, outputs);
}

}  // namespace

absl::Status RegisterCastLowerings(Lowerings& lowerings) {
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add("slipway.RoundToBfloat16",
                                        Lowering(RoundToBfloat16).Serving(ServesCasts).Open()));
  return lowerings.Add("Cast", Lowering(Cast).Serving(ServesCasts).Open());
}

}  // namespace slipway
