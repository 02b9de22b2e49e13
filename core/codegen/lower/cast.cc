// Casts between the types that generated code knows, bool (one byte, 0 or 1) among them.
#include <vector>

#include "core/base/status_macros.h"
#include "core/codegen/lower/broadcast.h"
#include "core/codegen/lower/families.h"
#include "core/tensor/dtype.h"

namespace slipway {
namespace {

using Halide::cast;
using Halide::Expr;
using Halide::Func;

absl::StatusOr<std::vector<Func>> Cast(LoweringContext& context) {
  const std::vector<Halide::Var> vars =
      FreshVars(static_cast<int>(context.output_types[0].shape.size()));
  const Expr x = ReadBroadcast(context.inputs[0], context.node.input_shape(0), AsExprs(vars));
  const DataType to = context.output_types[0].dtype;
  SLIPWAY_ASSIGN_OR_RETURN(const Halide::Type type, HalideType(to));
  Func result("cast");
  if (to == DataType::kBool && context.node.input_type(0).dtype() != DataType::kBool) {
    const Expr is_set = x != Halide::Internal::make_zero(x.type());
    result(vars) = Halide::strict_float(Halide::select(is_set, cast<uint8_t>(1), cast<uint8_t>(0)));
  } else {
    result(vars) = cast(type, x);
  }
  return std::vector<Func>{result};
}

}  // namespace

absl::Status RegisterCastLowerings(Lowerings& lowerings) { return lowerings.Add("Cast", Cast); }

}  // namespace slipway
