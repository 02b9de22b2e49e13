// Into channel blocks and back.
#include <vector>

#include "core/base/status_macros.h"
#include "core/codegen/lower/families.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

absl::StatusOr<std::vector<Func>> LowerPack(LoweringContext& context) {
  const int block = static_cast<int>(context.output_types[0].shape.back());
  Var c("c"), x("x"), y("y"), channel("channel"), n("n");
  Func result("packed");
  result(c, x, y, channel, n) = context.inputs[0](x, y, channel * block + c, n);
  return std::vector<Func>{result};
}

absl::StatusOr<std::vector<Func>> LowerUnpack(LoweringContext& context) {
  const int block = static_cast<int>(context.node.input_shape(0).back());
  Var x("x"), y("y"), channel("channel"), n("n");
  Func result("unpacked");
  result(x, y, channel, n) = context.inputs[0](channel % block, x, y, channel / block, n);
  return std::vector<Func>{result};
}

}  // namespace

absl::Status RegisterLayoutLowerings(Lowerings& lowerings) {
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add("slipway.Pack", LowerPack));
  return lowerings.Add("slipway.Unpack", LowerUnpack);
}

}  // namespace slipway
