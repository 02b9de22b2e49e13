// QuantizeLinear and DequantizeLinear between f32 and integers, with one scale for all or one a place along an axis; slipway.Lookup.
#include "core/operators/quantization.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/float_math.h"
#include "core/codegen/lower/broadcast.h"
#include "core/codegen/lower/families.h"
#include "core/codegen/table_lookups.h"
#include "core/tensor/dtype.h"

namespace slipway {
namespace {

using Halide::cast;
using Halide::Expr;
using Halide::Func;

// A vector's element that belongs to a place of x, or the one that it has.
Expr Parameter(const LoweringContext& context, const QuantizationView& view, int input,
               const std::vector<Expr>& at) {
  const Shape& shape = context.node.input_shape(input);
  if (shape.empty())
    return ReadBroadcast(context.inputs[input], context.node.input_type(input), at);
  if (view.granularity == Granularity::kTensor) return context.inputs[input](0);
  return context.inputs[input](at[at.size() - 1 - static_cast<size_t>(view.axis)]);
}

// As real(x, scale, zero point or an undefined Expr) has it.
Lowering Scaled(Expr (*real)(Expr x, Expr scale, Expr zero, Halide::Type to)) {
  return [real](LoweringContext& context) -> absl::StatusOr<std::vector<Func>> {
    SLIPWAY_ASSIGN_OR_RETURN(const QuantizationView view, DecodeQuantization(context.node));
    SLIPWAY_ASSIGN_OR_RETURN(const Halide::Type to, HalideType(context.output_types[0].dtype()));
    const std::vector<Halide::Var> vars = FreshVars(context.output_types[0].rank());
    const std::vector<Expr> at = AsExprs(vars);
    const Expr zero = context.node.has_input(2) ? Parameter(context, view, 2, at) : Expr();
    Func result("scaled");
    result(vars) = real(context.inputs[0](at), Parameter(context, view, 1, at), zero, to);
    return std::vector<Func>{result};
  };
}

// The quotient is rounded as IEEE 754 has it: what lies beside a half decides over the result. Within the bounds of the type, less
// the zero point, it is rounded by adding a number behind whose unit floats have no digits; the sum's last bits are the result.
Expr Quantize(Expr x, Expr scale, Expr zero, Halide::Type to) {
  constexpr float kUnitIsLast = 12582912.0f;  // 3 * 2^22.
  if (!zero.defined()) zero = Halide::Internal::make_zero(to);
  zero = Halide::Internal::simplify(cast<int32_t>(zero));
  const Expr quotient =
      Halide::Internal::is_const_one(scale) ? Loosely(x) : Strictly(Loosely(x) / scale);
  const Expr least = cast<float>(cast<int32_t>(to.min()) - zero);
  const Expr largest = cast<float>(cast<int32_t>(to.max()) - zero);
  // NaN becomes 0, which is the least number of an unsigned type without a zero point: nothing is larger than NaN.
  const bool is_least = to.is_uint() && Halide::Internal::is_const_zero(zero);
  const Expr number = is_least ? quotient : SelectStrictly(IsNan(quotient), 0.0f, quotient);
  const Expr above = SelectStrictly(number > least, number, least);
  const Expr inside = SelectStrictly(above < largest, above, largest);
  const Expr bits = Halide::reinterpret<int32_t>(Strictly(inside + kUnitIsLast));
  // What is left of it is a remainder of a power of two.
  static_assert(kUnitIsLast == 12582912.0f, "its last 16 bits are 0");
  return cast(to, bits + zero);
}

Expr Dequantize(Expr x, Expr scale, Expr zero, Halide::Type) {
  if (!zero.defined()) return cast<float>(x) * scale;
  // Subtracted as integers: of floats the scale may be multiplied out, after which the zero point itself is not 0.
  return cast<float>(cast<int32_t>(x) - cast<int32_t>(zero)) * scale;
}

bool IsStored(DataType dtype) {
  return dtype == DataType::kInt8 || dtype == DataType::kUint8 || dtype == DataType::kInt16 ||
         dtype == DataType::kUint16;
}

absl::Status ServesIntegers(const NodeView& node, absl::Span<const ValueType> outputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const QuantizationView view, DecodeQuantization(node));
  const bool makes_real = node.op() == "DequantizeLinear";
  const DataType real = makes_real ? outputs[0].dtype() : node.input_type(0).dtype();
  const DataType stored = makes_real ? node.input_type(0).dtype() : outputs[0].dtype();
  if (real != DataType::kFloat32 || node.input_type(1).dtype() != DataType::kFloat32 ||
      !IsStored(stored) || view.precision != DataType::kInvalid) {
    return node.Unimplemented(absl::StrCat("no kernel can be generated between ", Name(real),
                                           " and ", Name(stored), " yet"));
  }
  if (view.granularity == Granularity::kBlock) {
    return node.Unimplemented("no kernel can be generated for blocks with scales of their own yet");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Func>> LowerLookup(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const LookupView lookup, DecodeLookup(context.node));
  SLIPWAY_ASSIGN_OR_RETURN(const Halide::Type to, HalideType(lookup.to));
  const std::vector<Halide::Var> vars = FreshVars(context.output_types[0].rank());
  Expr code = context.inputs[0](AsExprs(vars));
  if (code.type().is_int()) code = cast<uint8_t>(cast<int16_t>(code) + 128);
  Func result("lookup");
  result(vars) = Halide::Internal::Call::make(to, TableName(lookup.table, to.bits()), {code},
                                              Halide::Internal::Call::PureExtern);
  return std::vector<Func>{result};
}

}  // namespace

absl::Status RegisterQuantizationLowerings(Lowerings& lowerings) {
  SLIPWAY_RETURN_IF_ERROR(
      lowerings.Add("DequantizeLinear", Scaled(Dequantize).Serving(ServesIntegers).Open()));
  SLIPWAY_RETURN_IF_ERROR(
      lowerings.Add("slipway.Lookup", Lowering(LowerLookup).Serving(ServesEveryType).Open()));
  return lowerings.Add("QuantizeLinear", Scaled(Quantize).Serving(ServesIntegers).Open());
}

}  // namespace slipway
