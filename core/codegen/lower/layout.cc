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
  const int block = HalideExtents(context.output_types[0])[0];
  Var c("c"), x("x"), y("y"), channel("channel"), n("n");
  Func result("packed");
  const Expr from = channel * block + c;
  const Dimension& all = context.node.input_type(0).dimension(1);
  const int channels = all.is_known() ? static_cast<int>(all.extent()) : 0;
  if (channels % block == 0) {
    result(c, x, y, channel, n) = context.inputs[0](x, y, from, n);
  } else {
    const Expr value = context.inputs[0](x, y, Halide::min(from, channels - 1), n);
    result(c, x, y, channel, n) =
        Halide::select(from < channels, value, Halide::Internal::make_zero(value.type()));
  }
  return std::vector<Func>{result};
}

absl::StatusOr<std::vector<Func>> LowerUnpack(LoweringContext& context) {
  const int block = HalideExtents(context.node.input_type(0))[0];
  Var x("x"), y("y"), channel("channel"), n("n");
  Func result("unpacked");
  result(x, y, channel, n) = context.inputs[0](channel % block, x, y, channel / block, n);
  return std::vector<Func>{result};
}

absl::Status ServesBlocks(const NodeView& node, absl::Span<const ValueType> outputs) {
  const ValueType& packed = outputs[0].rank() == 5 ? outputs[0] : node.input_type(0);
  if (!packed.dimension(4).is_known()) {
    return node.Unimplemented(
        "no kernel can be generated for blocks of an extent that is not known");
  }
  return ServesEveryType(node, outputs);
}

}  // namespace

absl::Status RegisterLayoutLowerings(Lowerings& lowerings) {
  SLIPWAY_RETURN_IF_ERROR(
      lowerings.Add("slipway.Pack", Lowering(LowerPack).Serving(ServesBlocks).Open()));
  return lowerings.Add("slipway.Unpack", Lowering(LowerUnpack).Serving(ServesBlocks).Open());
}

}  // namespace slipway
