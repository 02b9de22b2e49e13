#include "core/codegen/lower/formula.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/lower/broadcast.h"
#include "core/tensor/dtype.h"

namespace slipway {

using Halide::Expr;
using Halide::Func;

Lowering Elementwise(Types types, Formula formula) {
  return [types, formula](LoweringContext& context) -> absl::StatusOr<std::vector<Func>> {
    const DataType dtype = context.output_types[0].dtype;
    if (types == Types::kFloat) SLIPWAY_RETURN_IF_ERROR(RequireFloat32(context));
    if (dtype == DataType::kBool || (types == Types::kResult && dtype != DataType::kFloat32)) {
      return context.node.Unimplemented(absl::StrCat("no kernel for ", Name(dtype), " yet"));
    }
    const std::vector<Halide::Var> vars =
        FreshVars(static_cast<int>(context.output_types[0].shape.size()));
    const std::vector<Expr> at = AsExprs(vars);
    std::vector<Expr> inputs;
    for (int i = 0; i < context.node.num_inputs(); ++i) {
      inputs.push_back(context.node.has_input(i)
                           ? ReadBroadcast(context.inputs[i], context.node.input_shape(i), at)
                           : Expr());
    }
    SLIPWAY_ASSIGN_OR_RETURN(const Halide::Type type, HalideType(dtype));
    Func result("elementwise");
    result(vars) = Halide::cast(type, formula(context.node, inputs));
    return std::vector<Func>{result};
  };
}

}  // namespace slipway
