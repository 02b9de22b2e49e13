#include "core/codegen/schedules/cpu/strassen_schedule.h"

#include <algorithm>
#include <vector>

#include "core/base/round_up.h"
#include "core/codegen/schedules/cpu/loops.h"
#include "core/codegen/schedules/cpu/tiles.h"
#include "core/operators/strassen.h"

namespace slipway {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

// Of a band's sums of quarters, which are read again for each tile of columns, as all weights are for each band.
constexpr int64_t kBandBytes = 2 << 20;
// Where weights are so few that they stay in some cache, an image's sums had better stay in the second-level one, whose places, a block of
// channels apart, come slower from beyond than rows of a matrix; but enough of them for each reading of the weights.
constexpr int64_t kNearBytes = 4 << 20;
constexpr int64_t kLeastPairsOfBand = 28;
// Fewer would leave threads waiting for the last.
constexpr int kBandsPerCore = 2;
constexpr int kChunksPerCore = 2;
constexpr int kPanelsOfTile = 2;  // As most tiles have.
// Of the products of a chunk.
constexpr int64_t kProductBytes = 256 << 10;

// What bands consist of: pairs of rows, or rows of an image.
int Units(const StrassenStages& s) { return s.images == 0 ? (s.rows + 1) / 2 : s.height; }
int Images(const StrassenStages& s) { return std::max(s.images, 1); }
int HalfPanels(const StrassenStages& s) { return s.half_columns / s.block; }

int PairsOf(const StrassenStages& s, int band, int images) {
  if (s.images == 0) return band;
  return static_cast<int>(CeilDivide(int64_t{band} * images * s.width, 2));
}

int64_t Bands(const StrassenStages& s, const StrassenSchedule& schedule) {
  return CeilDivide(Units(s), schedule.band) * CeilDivide(Images(s), schedule.images);
}

// So many of `all` together, as equal shares as can be, of which each is at most `fitting`.
int EqualShare(int all, int64_t fitting) {
  const int64_t shares = CeilDivide(all, std::clamp<int64_t>(fitting, 1, all));
  return static_cast<int>(CeilDivide(all, shares));
}

TailStrategy ExactOrGuarded(int extent, int factor) {
  return extent % factor == 0 ? TailStrategy::RoundUp : TailStrategy::GuardWithIf;
}

// Loops of the result: in `band` are a band's sums, in `chunk` a chunk's products.
struct ResultLoops {
  Var band{"band"};
  Var chunk{"chunk"};
};

ResultLoops CutMatrix(const StrassenStages& stages, const StrassenSchedule& schedule, int lanes,
                      Func result) {
  ResultLoops loops;
  const std::vector<Var> vars = result.args();
  const Var column = vars[0], row = vars[1];
  Var lane("lane"), vector("vector"), across("across"), down("down");
  result.split(column, column, across, 2 * stages.block, TailStrategy::RoundUp)
      .split(across, across, vector, stages.block, TailStrategy::RoundUp)
      .split(vector, vector, lane, lanes, TailStrategy::RoundUp)
      .split(column, loops.chunk, column, schedule.chunk, TailStrategy::RoundUp)
      .split(row, row, down, 2, ExactOrGuarded(stages.rows, 2))
      .split(row, loops.band, row, schedule.band, ExactOrGuarded(Units(stages), schedule.band))
      .reorder({lane, across, down, vector, column, row, loops.chunk, loops.band})
      .vectorize(lane)
      .unroll(across)
      .unroll(down);
  Func quarters = stages.quarters;
  quarters.compute_at(result, vector);
  return loops;
}

// Whether no pair of places has them in two rows of an image.
bool ArePairsInRows(const StrassenStages& stages) { return stages.width % 2 == 0; }

ResultLoops CutImages(const StrassenStages& stages, const StrassenSchedule& schedule, int lanes,
                      Func result) {
  ResultLoops loops;
  const std::vector<Var> vars = result.args();
  const Var c = vars[0], x = vars[1], y = vars[2], channel = vars[3], n = vars[4];
  Var lane("lane"), across("across"), down("down"), image("image"), outer("outer");
  const bool in_rows = ArePairsInRows(stages);
  result.split(c, c, lane, lanes, TailStrategy::RoundUp)
      .split(channel, channel, across, 2, TailStrategy::RoundUp)
      .split(channel, loops.chunk, channel, schedule.chunk, TailStrategy::RoundUp)
      .split(x, x, down, in_rows ? 2 : 1, TailStrategy::RoundUp)
      .split(y, outer, y, schedule.band, ExactOrGuarded(stages.height, schedule.band))
      .split(n, n, image, schedule.images, ExactOrGuarded(stages.images, schedule.images))
      .reorder({lane, across, down, c, x, y, image, channel, loops.chunk, outer, n})
      .fuse(outer, n, loops.band)
      .vectorize(lane);
  Func quarters = stages.quarters;
  if (in_rows) {
    result.unroll(across).unroll(down);
    quarters.compute_at(result, c);
  } else {
    quarters.compute_at(result, loops.chunk);
  }
  return loops;
}

// Pairs of rows whose sums are made together, at most.
int64_t PairsOfBand(const MachineDescription& machine, const StrassenStages& stages,
                    bool has_chunks) {
  const int64_t pair_bytes =
      int64_t{4} * kStrassenProducts * stages.step_block * stages.step_blocks;
  const int64_t all = CeilDivide(stages.rows, 2);
  const bool is_one_band = all * pair_bytes <= kBandBytes;
  if (machine.cores > 1 && is_one_band && has_chunks) return all;
  int64_t pairs = kBandBytes / pair_bytes;
  if (stages.images != 0 && pair_bytes * stages.half_columns <= kNearBytes) {
    pairs = machine.l2_bytes / 4 / pair_bytes;
  }
  if (!has_chunks) pairs = std::min(pairs, CeilDivide(all, kBandsPerCore * machine.cores));
  return std::max(pairs, kLeastPairsOfBand);
}

// Its panels divide those of the columns.
ProductTile TileOf(const MachineDescription& machine, const StrassenStages& stages, int pairs) {
  const int panels = HalfPanels(stages);
  const int vectors = stages.block / LanesWithin(FloatLanes(machine), stages.block);
  if (stages.images != 0) {
    const int64_t depth_bytes = int64_t{4} * stages.step_block * stages.step_blocks;
    const AccumulatorTile tile =
        ChooseTile(machine, pairs, panels,
                   {.block_weight_bytes = depth_bytes * stages.block, .block_vectors = vectors});
    return {tile.width, tile.blocks};
  }
  ProductTile tile;
  int most = panels;
  do {
    tile = ChooseProductTile(pairs, most, vectors, machine.vector_registers);
    most = LargestDivisor(panels, tile.panels);
  } while (panels % tile.panels != 0);
  return tile;
}

}  // namespace

StrassenSchedule ChooseStrassenProduct(const MachineDescription& machine,
                                       const StrassenStages& stages) {
  StrassenSchedule schedule;
  // Whether chunks of the columns are tasks enough.
  const bool has_chunks = HalfPanels(stages) / kPanelsOfTile >= kChunksPerCore * machine.cores;
  const int64_t fitting = PairsOfBand(machine, stages, has_chunks);
  schedule.band =
      EqualShare(Units(stages), stages.images == 0 ? fitting : 2 * fitting / stages.width);
  if (schedule.band == Units(stages)) {
    schedule.images = EqualShare(Images(stages), fitting / PairsOf(stages, schedule.band, 1));
  }
  const int64_t bands = Bands(stages, schedule);
  schedule.parallel_bands = bands >= kBandsPerCore * machine.cores || (bands > 1 && !has_chunks);

  const int pairs = PairsOf(stages, schedule.band, schedule.images);
  const ProductTile tile = TileOf(machine, stages, pairs);
  schedule.rows = tile.rows;
  schedule.panels = tile.panels;
  const int column_tiles = HalfPanels(stages) / tile.panels;
  const int64_t tile_bytes = int64_t{4} * kStrassenProducts * pairs * stages.block * tile.panels;
  const int64_t wanted = schedule.parallel_bands != 0 || machine.cores == 1
                             ? column_tiles
                             : column_tiles / (kChunksPerCore * machine.cores);
  schedule.chunk =
      tile.panels *
      LargestDivisor(column_tiles, static_cast<int>(std::max<int64_t>(
                                       1, std::min(wanted, kProductBytes / tile_bytes))));
  return schedule;
}

Parameters StrassenProductParameters(const MachineDescription&, const StrassenStages& stages,
                                     StrassenSchedule& schedule) {
  return {{"band", &schedule.band, 1, Units(stages)},
          {"images", &schedule.images, 1, schedule.band == Units(stages) ? Images(stages) : 1},
          {"rows", &schedule.rows, 1,
           std::min(PairsOf(stages, Units(stages), Images(stages)), kMaxTileWidth)},
          {"chunk", &schedule.chunk, 1, HalfPanels(stages), HalfPanels(stages)},
          {"panels", &schedule.panels, 1, std::min(schedule.chunk, kMaxTileBlocks), schedule.chunk},
          {"parallel-bands", &schedule.parallel_bands, 0, 1}};
}

void ScheduleStrassenProduct(const MachineDescription& machine, const StrassenStages& stages,
                             const StrassenSchedule& schedule, Func result) {
  const int lanes = LanesWithin(FloatLanes(machine), stages.block);
  const ResultLoops loops = stages.images == 0 ? CutMatrix(stages, schedule, lanes, result)
                                               : CutImages(stages, schedule, lanes, result);
  if (schedule.parallel_bands != 0) {
    result.parallel(loops.band);
  } else {
    result.parallel(loops.chunk);
  }

  Func quarters = stages.quarters;
  const std::vector<Var> q = quarters.args();
  Var lane("lane"), vector("vector");
  quarters.split(q[0], q[0], lane, lanes, TailStrategy::RoundUp)
      .reorder({lane, q[1], q[2], q[0], q[3]})
      .vectorize(lane)
      .unroll(q[1])
      .unroll(q[2]);

  Func left = stages.left;
  const std::vector<Var> l = left.args();
  const int steps = LanesWithin(FloatLanes(machine), stages.step_block);
  const int pairs = PairsOf(stages, schedule.band, schedule.images);
  // As it lies where it comes from: row after row of a matrix, plane after plane of an image.
  const bool is_matrix = stages.images == 0;
  left.compute_at(result, loops.band)
      .split(l[0], l[0], lane, steps, ExactOrShifted(stages.step_block, steps))
      .reorder({lane, l[3], l[0], l[is_matrix ? 2 : 1], l[is_matrix ? 1 : 2]})
      .vectorize(lane)
      .unroll(l[3])
      .align_storage(l[0], Odd(static_cast<int>(CeilDivide(stages.step_block, steps))) * steps)
      .align_storage(l[1], Odd(static_cast<int>(RoundUp(pairs, schedule.rows))));
  if (schedule.parallel_bands == 0) {
    if (is_matrix) {
      Var task("task");
      left.split(l[1], task, l[1], schedule.rows, TailStrategy::GuardWithIf).parallel(task);
    } else {
      left.parallel(l[2]);
    }
  }

  Func products = stages.products, accumulator = stages.accumulator;
  const std::vector<Var> p = products.args();
  Var panel("panel"), inner_pair("inner_pair");
  products.compute_at(result, loops.chunk)
      .split(p[0], p[0], panel, stages.block * schedule.panels, TailStrategy::RoundUp)
      .split(panel, vector, lane, lanes, TailStrategy::RoundUp)
      .split(p[1], p[1], inner_pair, schedule.rows, TailStrategy::RoundUp)
      .reorder({lane, vector, inner_pair, p[1], p[0], p[2]})
      .vectorize(lane)
      .unroll(vector)
      .unroll(inner_pair);
  const std::vector<Var> a = accumulator.args();
  accumulator.compute_at(products, p[1])
      .split(a[0], vector, lane, lanes, TailStrategy::RoundUp)
      .vectorize(lane)
      .unroll(vector)
      .unroll(a[1]);
  accumulator.update()
      .split(a[0], vector, lane, lanes, TailStrategy::RoundUp)
      .reorder({lane, vector, a[1], RVar(stages.reduction[0]), RVar(stages.reduction[1])})
      .vectorize(lane)
      .unroll(vector)
      .unroll(a[1]);
}

}  // namespace slipway
