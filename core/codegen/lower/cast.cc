// Elementwise operators over any type, bool (one byte, 0 or 1) among them.
#include <functional>
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
using Halide::select;

using Formula =
    std::function<Expr(const LoweringContext& context, const std::vector<Expr>& inputs)>;

Lowering Broadcasting(Formula formula) {
  return [formula](LoweringContext& context) -> absl::StatusOr<std::vector<Func>> {
    const std::vector<Halide::Var> vars =
        FreshVars(static_cast<int>(context.output_types[0].shape.size()));
    std::vector<Expr> inputs;
    for (int i = 0; i < context.node.num_inputs(); ++i) {
      inputs.push_back(
          ReadBroadcast(context.inputs[i], context.node.input_shape(i), AsExprs(vars)));
    }
    SLIPWAY_ASSIGN_OR_RETURN(const Halide::Type type, HalideType(context.output_types[0].dtype));
    Func result("logic");
    result(vars) = cast(type, formula(context, inputs));
    return std::vector<Func>{result};
  };
}

Expr AsByte(Expr condition) {
  return Halide::strict_float(select(std::move(condition), cast<uint8_t>(1), cast<uint8_t>(0)));
}

Expr CastElement(const LoweringContext& context, const std::vector<Expr>& in) {
  const bool to_bool = context.output_types[0].dtype == DataType::kBool;
  const bool from_bool = context.node.input_type(0).dtype == DataType::kBool;
  if (to_bool && !from_bool) {
    return AsByte(in[0] != Halide::Internal::make_zero(in[0].type()));
  }
  return in[0];
}

}  // namespace

absl::Status RegisterCastLowerings(Lowerings& lowerings) {
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add("Cast", Broadcasting(CastElement)));
  return lowerings.Add("Identity", Broadcasting([](const LoweringContext&,
                                                   const std::vector<Expr>& in) { return in[0]; }));
}

}  // namespace slipway
