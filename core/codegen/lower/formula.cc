#include "core/codegen/lower/formula.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/lower/broadcast.h"
#include "core/tensor/dtype.h"

namespace slipway {

using Halide::Expr;
using Halide::Func;

namespace {

ServesFunction ServesTypes(Types types) {
  return [types](const NodeView& node, absl::Span<const ValueType> outputs) {
    if (node.has_output(1)) {
      return node.Unimplemented("no kernel can be generated for a further output yet");
    }
    if (types == Types::kFloat) return ServesFloat32(node, outputs);
    if (types == Types::kEvery) return ServesEveryType(node, outputs);
    const DataType dtype = outputs[0].dtype();
    if (dtype == DataType::kBool || (types == Types::kResult && dtype != DataType::kFloat32)) {
      return node.Unimplemented(
          absl::StrCat("no kernel can be generated for ", Name(dtype), " yet"));
    }
    for (int i = 1; types == Types::kResult && i < node.num_inputs(); ++i) {
      if (!node.has_input(i) || node.input_type(i).dtype() != DataType::kFloat64) continue;
      return node.Unimplemented(absl::StrCat("no kernel can be generated for ", Name(dtype),
                                             " of operands of ", Name(DataType::kFloat64), " yet"));
    }
    return ServesEveryType(node, outputs);
  };
}

}  // namespace

Lowering Elementwise(Types types, Formula formula) {
  const auto lower = [formula](LoweringContext& context) -> absl::StatusOr<std::vector<Func>> {
    const DataType dtype = context.output_types[0].dtype();
    const std::vector<Halide::Var> vars = FreshVars(context.output_types[0].rank());
    const std::vector<Expr> at = AsExprs(vars);
    std::vector<Expr> inputs;
    for (int i = 0; i < context.node.num_inputs(); ++i) {
      inputs.push_back(context.node.has_input(i)
                           ? ReadBroadcast(context.inputs[i], context.node.input_type(i), at)
                           : Expr());
    }
    SLIPWAY_ASSIGN_OR_RETURN(const Halide::Type type, HalideType(dtype));
    Func result("elementwise");
    result(vars) = Halide::cast(type, formula(context.node, inputs));
    return std::vector<Func>{result};
  };
  return Lowering(lower).Serving(ServesTypes(types)).Open();
}

Formula Unary(std::function<Expr(Expr)> function) {
  return [function](const NodeView&, const std::vector<Expr>& in) { return function(in[0]); };
}

Formula Binary(std::function<Expr(Expr, Expr)> function) {
  return
      [function](const NodeView&, const std::vector<Expr>& in) { return function(in[0], in[1]); };
}

absl::Status AddFormulas(absl::Span<const FormulaRow> rows, Lowerings& lowerings) {
  for (const FormulaRow& row : rows) {
    SLIPWAY_RETURN_IF_ERROR(lowerings.Add(row.op, Elementwise(row.types, row.formula)));
  }
  return absl::OkStatus();
}

}  // namespace slipway
