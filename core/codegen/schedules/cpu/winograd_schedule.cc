#include "core/codegen/schedules/cpu/winograd_schedule.h"

#include <algorithm>
#include <vector>

#include "core/base/round_up.h"
#include "core/codegen/schedules/cpu/loops.h"
#include "core/codegen/schedules/cpu/tiles.h"

namespace slipway {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

// Bands of tiles whose transformed inputs are at most so large; one that shares the second-level cache with what it meets
// there would stream the weights too often.
constexpr int64_t kBandBytes = 1 << 20;
// Each band reads all weights again: so many tiles multiply for as long as memory takes for them.
constexpr int kLeastTilesOfBand = 28;
// Fewer would leave threads waiting for the last.
constexpr int kBandsPerCore = 2;
// Of the products of a band that are made before they are transformed.
constexpr int64_t kProductBytes = 256 << 10;

// Rows of tiles in a band: the fewest bands whose transformed inputs fit, if that is enough of them, of equal height where that is
// possible.
int RowsOfBand(const WinogradStages& s) {
  const int64_t row_bytes = int64_t{4} * s.tile * s.tile * s.columns * s.in_block * s.in_blocks;
  const int64_t least = (kLeastTilesOfBand + s.columns - 1) / s.columns;
  const auto fitting =
      static_cast<int>(std::clamp<int64_t>(std::max(kBandBytes / row_bytes, least), 1, s.rows));
  const int bands = (s.rows + fitting - 1) / fitting;
  return (s.rows + bands - 1) / bands;
}

// Of the product for one position in a tile, so that it is worth a task.
constexpr int64_t kMultiplyAddsOfPosition = 64 << 10;

int64_t BandsOf(const WinogradStages& stages, int band_rows) {
  return (stages.rows + band_rows - 1) / band_rows;
}

// Of one product of matrices, for one position in a band's tiles.
int64_t MultiplyAddsOf(const WinogradStages& s, const WinogradSchedule& schedule) {
  return int64_t{schedule.band_rows} * s.columns * s.in_block * s.in_blocks * s.out_blocks;
}

}  // namespace

WinogradSchedule ChooseWinogradConvolution(const MachineDescription& machine,
                                           const WinogradStages& stages) {
  const int band_rows = RowsOfBand(stages);
  const int band_tiles = band_rows * stages.columns;
  const int64_t weight_bytes = int64_t{machine.vector_bytes} * stages.in_block * stages.in_blocks;
  const AccumulatorTile tile =
      ChooseTile(machine, band_tiles, stages.out_blocks,
                 {.block_weight_bytes = weight_bytes, .holds_inputs = machine.has_lane_fma});
  const int64_t block_bytes =
      int64_t{machine.vector_bytes} * stages.tile * stages.tile * band_tiles;
  const bool parallel_bands =
      Assumed(stages.batch) * BandsOf(stages, band_rows) >= kBandsPerCore * machine.cores;
  const int64_t column_tiles = stages.out_blocks / tile.blocks;
  const int64_t fitting = kProductBytes / (block_bytes * tile.blocks);
  const int64_t wanted = parallel_bands ? column_tiles : column_tiles / machine.cores;
  const int chunk =
      tile.blocks *
      LargestDivisor(static_cast<int>(column_tiles),
                     static_cast<int>(std::max<int64_t>(1, std::min(fitting, wanted))));
  return {band_rows, tile.width, tile.blocks, chunk, parallel_bands};
}

Parameters WinogradConvolutionParameters(const MachineDescription&, const WinogradStages& stages,
                                         WinogradSchedule& schedule) {
  return {{"band-rows", &schedule.band_rows, 1, stages.rows},
          {"width", &schedule.width, 1,
           static_cast<int>(
               std::min<int64_t>(int64_t{stages.columns} * schedule.band_rows, kMaxTileWidth))},
          {"blocks", &schedule.blocks, 1, std::min(stages.out_blocks, kMaxTileBlocks),
           stages.out_blocks},
          {"chunk", &schedule.chunk, 1, stages.out_blocks, stages.out_blocks, schedule.blocks},
          {"parallel-bands", &schedule.parallel_bands, 0, 1}};
}

void ScheduleWinogradConvolution(const MachineDescription& machine, const WinogradStages& stages,
                                 const WinogradSchedule& schedule, Func result) {
  const int outputs = stages.tile - 2;
  const std::vector<Var> vars = result.args();
  const Var c = vars[0], x = vars[1], y = vars[2], channel = vars[3], n = vars[4];
  Var band("band"), ci("ci"), pi("pi"), po("po"), row("row");
  // A band's last rows may lie below the result; tiles are made of whole ones.
  result.split(channel, channel, ci, schedule.chunk, TailStrategy::RoundUp)
      .split(y, band, y, schedule.band_rows * outputs, TailStrategy::GuardWithIf)
      .split(y, row, y, outputs, TailStrategy::RoundUp)
      .reorder({c, x, y, row, ci, channel, band, n})
      .vectorize(c);
  Var scratch = band;              // The loop that has a band's scratch memory.
  Var transformed_back = channel;  // The loop that has a tile's outputs.
  const bool parallel_chunks = schedule.parallel_bands == 0 && stages.out_blocks > schedule.chunk;
  // What neither bands nor chunks divide: each stage is a loop of its own over all threads.
  const bool parallel_stages = schedule.parallel_bands == 0 && !parallel_chunks;
  if (schedule.parallel_bands != 0) {
    scratch = ParallelizeOuter(
        result, {{band, BandsOf(stages, schedule.band_rows)}, {n, Assumed(stages.batch)}});
  } else if (parallel_chunks) {
    result.parallel(channel);
  } else {
    transformed_back = ParallelizeOuter(result, {{row, schedule.band_rows}, {ci, schedule.chunk}});
  }

  // Of a band, with those that the last step makes beyond it.
  const auto band_tiles =
      static_cast<int>(RoundUp(int64_t{schedule.band_rows} * stages.columns, schedule.width));
  Func padded = stages.padded, input_rows = stages.input_rows, transformed = stages.transformed;
  padded.compute_at(result, scratch);
  VectorizeScratch(machine, padded, stages.in_block);
  {
    const std::vector<Var> v = transformed.args();
    transformed.compute_at(result, scratch)
        .reorder_storage({v[0], v[3], v[4], v[1], v[2], v[5]})
        .reorder({v[0], v[1], v[2], v[3], v[4], v[5]})
        .vectorize(v[0])
        .unroll(v[1])
        .unroll(v[2])
        .align_storage(v[3], Odd(band_tiles))
        .align_storage(v[4], Odd(stages.in_blocks));
    if (stages.in_blocks > 1 && schedule.parallel_bands == 0) transformed.parallel(v[4]);
    const std::vector<Var> h = input_rows.args();
    input_rows.compute_at(transformed, v[3]).vectorize(h[0]).unroll(h[1]).unroll(h[2]);
  }

  Func products = stages.products, accumulator = stages.accumulator;
  const std::vector<Var> m = products.args();  // (c, p, C, i, j, n)
  Var mc("mc");
  products.compute_at(result, channel)
      .split(m[1], po, pi, schedule.width, TailStrategy::RoundUp)
      .split(m[2], m[2], mc, schedule.blocks, TailStrategy::RoundUp)
      .reorder({m[0], mc, pi, po, m[2], m[3], m[4], m[5]})
      .vectorize(m[0])
      .unroll(mc)
      .unroll(pi);
  if (parallel_stages) {
    ParallelizeOuter(
        products,
        {{m[3], MultiplyAddsOf(stages, schedule) < kMultiplyAddsOfPosition ? 1 : stages.tile},
         {m[4], stages.tile}});
  }
  const std::vector<Var> a = accumulator.args();
  accumulator.compute_at(products, po).vectorize(a[0]).unroll(a[1]).unroll(a[2]);
  const bool keeps_weights = KeepsWeights({schedule.width, schedule.blocks});
  accumulator.update()
      .reorder({a[0], a[keeps_weights ? 2 : 1], a[keeps_weights ? 1 : 2], RVar(stages.reduction[0]),
                RVar(stages.reduction[1])})
      .vectorize(a[0])
      .unroll(a[1])
      .unroll(a[2]);
  if (machine.has_lane_fma) {
    accumulator.update().unroll(RVar(stages.reduction[0]));
    LoadTogether(machine, stages.loaded, stages.in_block, accumulator, RVar(stages.reduction[1]));
  }

  Func output_rows = stages.output_rows, tiles = stages.tiles;
  const std::vector<Var> t = tiles.args();
  tiles.compute_at(result, transformed_back)
      .reorder({t[0], t[1], t[2], t[3], t[4], t[5]})
      .vectorize(t[0])
      .unroll(t[1])
      .unroll(t[2]);
  const std::vector<Var> o = output_rows.args();
  output_rows.compute_at(tiles, t[3]).vectorize(o[0]).unroll(o[1]).unroll(o[2]);
}

}  // namespace slipway
