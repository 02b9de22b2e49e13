// Casts between the types that generated code knows, bool (one byte, 0 or 1) among them.
#include <cmath>
#include <vector>

#include "core/base/status_macros.h"
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

// The nearest bf16, of two the even one. NaN stays NaN. By bits, so that subnormal numbers stay, whatever the machine has.
Expr NearestBfloat16(const Expr& x) {
  const Expr bits = Halide::reinterpret<uint32_t>(x);
  const Expr rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const Expr is_nan = (bits & 0x7fffffff) > 0x7f800000;
  return Halide::reinterpret(Halide::BFloat(16),
                             cast<uint16_t>(select(is_nan, (bits >> 16) | 0x40, rounded)));
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
  return lowerings.Add("Cast", Lowering(Cast).Serving(ServesCasts).Open());
}

}  // namespace slipway
