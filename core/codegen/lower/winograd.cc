#include "core/codegen/lower/winograd.h"

#include "core/base/status_macros.h"
#include "core/codegen/lower/row_of.h"
#include "core/codegen/lower/window.h"
#include "core/kernels/winograd.h"
#include "core/operators/convolution.h"

namespace slipway {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

absl::StatusOr<std::vector<Func>> LowerWinogradConvNchwc(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(context.node));
  SLIPWAY_ASSIGN_OR_RETURN(const PlaneWindow window, PlaneOf(context.node, conv.window));
  const auto tile = static_cast<int>(conv.winograd_tile);
  const kernels::WinogradMatrices& matrices = *kernels::FindWinograd(tile - 2);
  const int outputs = matrices.outputs;
  const int height = window.output[0];
  const int width = window.output[1];

  WinogradStages stages;
  stages.tile = tile;
  stages.rows = (height + outputs - 1) / outputs;
  stages.columns = (width + outputs - 1) / outputs;
  stages.height = height;
  stages.width = width;
  stages.batch = static_cast<int>(conv.batch);
  stages.in_block = static_cast<int>(conv.in_block);
  stages.in_blocks = static_cast<int>(conv.in_channels / conv.in_block);
  stages.out_blocks = static_cast<int>(conv.out_channels / conv.out_block);

  // i and j are the column and row in a tile, p numbers the tiles of an image, row by row.
  Var c("c"), x("x"), y("y"), i("i"), j("j"), p("p"), channel("channel"), n("n");
  const Func input = PaddedInput(context.inputs[0], 1, window, 0.0f);
  stages.padded = input;
  const Expr column = (p % stages.columns) * outputs;
  const Expr row = (p / stages.columns) * outputs;

  Func input_rows("winograd_input_rows"), transformed("winograd_input");
  input_rows(c, i, j, p, channel, n) = RowOf(matrices.input, tile, tile, j, [&](int k) {
    return input(c, column + i, row + k, channel, n);
  });
  transformed(c, i, j, p, channel, n) = RowOf(
      matrices.input, tile, tile, i, [&](int k) { return input_rows(c, k, j, p, channel, n); });

  RDom r(0, stages.in_block, 0, stages.in_blocks, "r");
  Func accumulator("accumulator"), products("winograd_products");
  accumulator(c, p, channel, i, j, n) = 0.0f;
  Func loaded("loaded");
  loaded(c, i, j, p, channel, n) = transformed(c, i, j, p, channel, n);
  accumulator(c, p, channel, i, j, n) +=
      loaded(r.x, i, j, p, r.y, n) * context.inputs[1](c, r.x, r.y, channel, i, j);
  products(c, p, channel, i, j, n) = accumulator(c, p, channel, i, j, n);

  Func output_rows("winograd_output_rows"), tiles("winograd_output");
  output_rows(c, i, j, p, channel, n) = RowOf(
      matrices.output, outputs, tile, j, [&](int k) { return products(c, p, channel, i, k, n); });
  tiles(c, i, j, p, channel, n) = RowOf(matrices.output, outputs, tile, i,
                                        [&](int k) { return output_rows(c, k, j, p, channel, n); });

  Func result("conv");
  Expr value =
      tiles(c, x % outputs, y % outputs, (y / outputs) * stages.columns + x / outputs, channel, n);
  if (context.node.has_input(2)) {
    value += context.inputs[2](channel * static_cast<int>(conv.out_block) + c);
  }
  result(c, x, y, channel, n) = value;

  stages.input_rows = input_rows;
  stages.transformed = transformed;
  stages.loaded = loaded;
  stages.reduction = r;
  stages.accumulator = accumulator;
  stages.products = products;
  stages.output_rows = output_rows;
  stages.tiles = tiles;
  context.anchor = Anchor{AnchorKind::kWinogradConvolution, stages, /*takes_epilogue=*/true};
  return std::vector<Func>{result};
}

}  // namespace slipway
