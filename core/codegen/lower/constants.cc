// ConstantOfShape. A Constant node never reaches a kernel: it is a constant from its import on.
#include "core/operators/constants.h"

#include <cstring>
#include <vector>

#include "core/base/status_macros.h"
#include "core/codegen/lower/families.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;

absl::StatusOr<std::vector<Func>> LowerConstantOfShape(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const Tensor element, DecodeConstantOfShape(context.node));
  SLIPWAY_ASSIGN_OR_RETURN(const Halide::Type type, HalideType(element.dtype()));
  Halide::Buffer<> value = Halide::Buffer<>::make_scalar(type);
  std::memcpy(value.data(), element.bytes().data(), element.byte_size());
  Func result("constant_of_shape");
  result(FreshVars(context.output_types[0].rank())) = value(std::vector<Expr>{});
  return std::vector<Func>{result};
}

}  // namespace

absl::Status RegisterConstantsLowerings(Lowerings& lowerings) {
  return lowerings.Add("ConstantOfShape", LowerConstantOfShape);
}

}  // namespace slipway
