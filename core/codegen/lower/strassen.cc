#include "core/codegen/lower/strassen.h"

#include <functional>

#include "core/base/status_macros.h"
#include "core/codegen/lower/row_of.h"
#include "core/operators/convolution.h"
#include "core/operators/matrix.h"
#include "core/operators/strassen.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

// Of the whole product.
struct ProductExtents {
  int rows = 1;
  int depth = 1;
  int columns = 1;
  int block = 1;  // Columns of one in w.
};

// `left` is an element of the left matrix: of a step in a block of them, and a row.
StrassenStages StagesOf(
    const ProductExtents& extents, int step_block, const Func& w,
    const std::function<Expr(const Expr& step, const Expr& steps, const Expr& row)>& left) {
  StrassenStages stages;
  stages.rows = extents.rows;
  stages.step_block = step_block;
  stages.step_blocks = extents.depth / 2 / step_block;
  stages.half_columns = extents.columns / 2;
  stages.block = extents.block;

  Var step("step"), steps("steps"), column("column"), pair("pair"), product("product"),
      across("across"), down("down");
  Func sums("strassen_left"), accumulator("accumulator"), products("strassen_products"),
      quarters("strassen_quarters");
  // Of an odd number of rows the last one is paired with itself, and that result is not read.
  sums(step, pair, steps, product) =
      RowOf(kStrassen.left, kStrassenProducts, kStrassenQuarters, product, [&](int quarter) {
        const Expr row = Halide::min(pair * 2 + quarter / 2, extents.rows - 1);
        return left(step, steps + quarter % 2 * stages.step_blocks, row);
      });
  const RDom k(0, step_block, 0, stages.step_blocks, "k");
  accumulator(column, pair, product) = 0.0f;
  accumulator(column, pair, product) +=
      sums(k.x, pair, k.y, product) *
      w(column % extents.block, k.y * step_block + k.x, product, column / extents.block);
  products(column, pair, product) = accumulator(column, pair, product);
  quarters(column, across, down, pair) =
      RowOf(kStrassen.result, kStrassenQuarters, kStrassenProducts, down * 2 + across,
            [&](int number) { return products(column, pair, number); });

  stages.left = sums;
  stages.reduction = k;
  stages.accumulator = accumulator;
  stages.products = products;
  stages.quarters = quarters;
  return stages;
}

}  // namespace

absl::StatusOr<std::vector<Func>> LowerStrassenGemm(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const GemmView gemm, DecodeGemm(context.node));
  const ProductExtents extents = {static_cast<int>(gemm.m), static_cast<int>(gemm.k),
                                  static_cast<int>(gemm.n), static_cast<int>(gemm.block)};
  const int half_depth = extents.depth / 2;
  const StrassenStages stages = StagesOf(extents, half_depth, context.inputs[1],
                                         [&](const Expr& step, const Expr& half, const Expr& row) {
                                           return context.inputs[0](half * half_depth + step, row);
                                         });
  Var column("column"), row("row");
  Func result("gemm");
  const int block = stages.block;
  Expr value = stages.quarters(column / (2 * block) * block + column % block, column / block % 2,
                               row % 2, row / 2);
  if (context.node.has_input(2)) value += context.inputs[2](column);
  result(column, row) = value;
  context.anchor = Anchor{AnchorKind::kStrassenProduct, stages, /*takes_epilogue=*/true};
  return std::vector<Func>{result};
}

absl::StatusOr<std::vector<Func>> LowerStrassenConvNchwc(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(context.node));
  const int height = static_cast<int>(conv.window.output[0]);
  const int width = static_cast<int>(conv.window.output[1]);
  const int block = static_cast<int>(conv.out_block);
  // Places of all images are rows.
  const ProductExtents extents = {static_cast<int>(conv.batch) * height * width,
                                  static_cast<int>(conv.in_channels),
                                  static_cast<int>(conv.out_channels), block};
  StrassenStages stages =
      StagesOf(extents, static_cast<int>(conv.in_block), context.inputs[1],
               [&](const Expr& step, const Expr& steps, const Expr& row) {
                 return context.inputs[0](step, row % width, row / width % height, steps,
                                          row / (width * height));
               });
  stages.images = static_cast<int>(conv.batch);
  stages.height = height;
  stages.width = width;
  Var c("c"), x("x"), y("y"), channel("channel"), n("n");
  const Expr row = (n * height + y) * width + x;
  Func result("conv");
  Expr value = stages.quarters(channel / 2 * block + c, channel % 2, row % 2, row / 2);
  if (context.node.has_input(2)) value += context.inputs[2](channel * block + c);
  result(c, x, y, channel, n) = value;
  context.anchor = Anchor{AnchorKind::kStrassenProduct, stages, /*takes_epilogue=*/true};
  return std::vector<Func>{result};
}

}  // namespace slipway
