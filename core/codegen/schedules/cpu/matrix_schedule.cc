#include "core/codegen/schedules/cpu/matrix_schedule.h"

#include <algorithm>
#include <vector>

#include "core/codegen/schedules/cpu/loops.h"
#include "core/codegen/schedules/cpu/term_products.h"
#include "core/codegen/schedules/cpu/tiles.h"
#include "core/codegen/tile_registers.h"
#include "core/codegen/tile_shapes.h"

namespace slipway {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

// How the right operand lies.
struct Panels {
  int lanes = 1;  // Of a vector of columns.
  int width = 1;  // Columns of a panel, which lie together: whole vectors.
  int count = 1;
};

Panels PanelsOf(const MachineDescription& machine, const MatrixStages& stages) {
  Panels panels;
  const int columns = Assumed(stages.columns);
  panels.lanes = LanesWithin(FloatLanes(machine), stages.block > 0 ? stages.block : stages.columns);
  panels.width = std::max(stages.block, panels.lanes);
  // What is not packed has tiles that are shifted inwards by any number of columns.
  panels.count = stages.block > 0 ? static_cast<int>(CeilDivide(columns, panels.width))
                                  : std::max(1, columns / panels.width);
  return panels;
}

RVar Steps(const MatrixStages& stages) {
  return stages.reduction[stages.reduction.dimensions() - 1];
}

// The number of products in a sum, or kOpen.
int Depth(const MatrixStages& stages) {
  const auto* steps = Steps(stages).extent().as<Halide::Internal::IntImm>();
  return steps == nullptr ? kOpen : static_cast<int>(steps->value) * stages.terms;
}

int64_t RowTiles(const MatrixStages& stages, int rows) {
  return CeilDivide(Assumed(stages.rows), rows);
}

// Whether columns of the right operand are copied together before they are multiplied: its rows lie far apart, and many of
// them in the same few lines of a cache. That takes about as long as one tile.
bool IsWorthACopy(const MatrixStages& stages, int64_t row_tiles) {
  constexpr int64_t kTilesWorthACopy = 4;
  if (!stages.right.defined()) return false;
  return stages.right_is_transposed || stages.columns == kOpen || row_tiles >= kTilesWorthACopy;
}

void ScheduleCopy(const MatrixStages& stages, int lanes, int width, Func right, Func result,
                  const Var& at) {
  const std::vector<Var> vars = right.args();
  const Var column = vars[0], step = vars[1];
  Var lane("lane"), vector("vector");
  right.compute_at(result, at).bound_extent(column, width);
  if (stages.right_is_transposed) {
    // Scattered stores come cheaper than loads that are gathered.
    const int steps = LanesWithin(lanes, Depth(stages));
    right.split(step, step, lane, steps, ExactOrShifted(Depth(stages), steps))
        .reorder(lane, column, step)
        .vectorize(lane)
        .unroll(column);
  } else {
    right.split(column, vector, lane, lanes, TailStrategy::RoundUp).vectorize(lane).unroll(vector);
  }
}

// The loop in which a column of tiles, or a part of one, is computed.
Var Parallelize(const MatrixStages& stages, const ProductSchedule& schedule, int64_t column_tiles,
                const Var& row, const Var& column, Func result) {
  if (schedule.parallel == 0) return column;
  const std::vector<Var> vars = result.args();
  std::vector<OuterLoop> loops;
  if (schedule.strips > 1) {
    Var strip("strip");
    const int64_t tiles_of_strip = CeilDivide(RowTiles(stages, schedule.rows), schedule.strips);
    result.split(row, strip, row, static_cast<int>(tiles_of_strip), TailStrategy::GuardWithIf);
    std::vector<Halide::VarOrRVar> order = {row, strip, column};
    result.reorder(order);
    loops.push_back({strip, schedule.strips});
  }
  loops.push_back({column, column_tiles});
  // The batch dimensions' own extents do not matter here, only that they run at all.
  for (size_t i = 2; i < vars.size(); ++i) loops.push_back({vars[i], stages.batch});
  return ParallelizeOuter(result, loops);
}

// Whether sums can be made in tile registers.
bool FitTileRegisters(const MachineDescription& machine, const MatrixStages& stages) {
  return HasTileRegistersFor(machine, stages.accumulator, stages.terms) &&
         stages.block == kTileColumns && stages.rows != kOpen &&
         FillsTiles(stages.block, Depth(stages) / stages.terms);
}

// Registers for sums, the right operand and a broadcast of the left one.
int RegistersForTiles(const MachineDescription& machine, const MatrixStages& stages) {
  return machine.vector_registers - (AddsApart(machine, stages.accumulator, stages.terms) ? 1 : 0);
}

// Whole registers, of which the left factor's and the right one's are each multiplied twice.
ProductTile TileOfRegisters(int rows, int panels) {
  const int whole = rows >= 2 * kTileRows ? 2 * kTileRows : std::min(rows, kTileRows);
  return {.rows = whole, .panels = std::min(panels, 2)};
}

// More rows than that are worth other tiles, a share of those that there are.
constexpr double kRowsForNothing = 1.04;

// More of a tile is more code than any machine has registers for.
constexpr int kMaxRows = 32;
constexpr int kMaxPanels = 16;

}  // namespace

ProductSchedule ChooseMatrixProduct(const MachineDescription& machine, const MatrixStages& stages) {
  const Panels panels = PanelsOf(machine, stages);
  const bool in_registers = FitTileRegisters(machine, stages);
  const ProductTile tile = in_registers ? TileOfRegisters(stages.rows, panels.count)
                                        : ChooseProductTile(Assumed(stages.rows), panels.count,
                                                            panels.width / panels.lanes,
                                                            RegistersForTiles(machine, stages));
  ProductSchedule schedule{.rows = tile.rows, .panels = tile.panels, .registers = in_registers};
  const int64_t row_tiles = RowTiles(stages, tile.rows);
  schedule.copied = IsWorthACopy(stages, row_tiles);
  // Tasks that are worth it: all tiles of a column of them share what they read of the right operand, and stay together
  // but where there are too few columns.
  const int64_t work = int64_t{Assumed(stages.columns)} * Assumed(stages.rows) * stages.batch *
                       Assumed(Depth(stages));
  const int64_t wanted = std::min(WantedTasks(machine), work / kMultiplyAddsPerTask);
  if (wanted <= 1) return schedule;
  schedule.parallel = 1;
  const int64_t columns =
      CeilDivide(Assumed(stages.columns), panels.width * tile.panels) * stages.batch;
  if (columns < wanted) {
    schedule.strips = static_cast<int>(std::min(row_tiles, CeilDivide(wanted, columns)));
    // Each strip has as many tiles, of which the last ones may be computed for nothing.
    const int64_t computed = schedule.strips * CeilDivide(row_tiles, schedule.strips) * tile.rows;
    if (stages.rows != kOpen && !in_registers && computed > stages.rows * kRowsForNothing) {
      const ProductTile of_strip =
          ChooseProductTile(static_cast<int>(CeilDivide(stages.rows, schedule.strips)), tile.panels,
                            panels.width / panels.lanes, RegistersForTiles(machine, stages));
      schedule.rows = of_strip.rows;
      schedule.panels = of_strip.panels;
    }
  }
  return schedule;
}

Parameters MatrixProductParameters(const MachineDescription& machine, const MatrixStages& stages,
                                   ProductSchedule& schedule) {
  const int can_be_copied = stages.right.defined() ? 1 : 0;
  // Whole tiles of an open extent are read from copies, which are as wide.
  const int must_be_copied = stages.columns == kOpen ? can_be_copied : 0;
  const auto row_tiles = static_cast<int>(RowTiles(stages, schedule.rows));
  return {{"rows", &schedule.rows, 1, std::min(Assumed(stages.rows), kMaxRows)},
          {"panels", &schedule.panels, 1, std::min(PanelsOf(machine, stages).count, kMaxPanels)},
          {"parallel", &schedule.parallel, 0, 1},
          {"strips", &schedule.strips, 1, schedule.parallel != 0 ? row_tiles : 1},
          {"copied", &schedule.copied, must_be_copied, can_be_copied},
          {"registers", &schedule.registers, 0, FitTileRegisters(machine, stages) ? 1 : 0}};
}

void ScheduleMatrixProduct(const MachineDescription& machine, const MatrixStages& stages,
                           const ProductSchedule& schedule, Func result) {
  const std::vector<Var> vars = result.args();
  const Var column = vars[0], row = vars[1];
  Var lane("lane"), vector("vector"), panel("panel"), inner_row("inner_row");
  const Panels panels = PanelsOf(machine, stages);
  const int width = panels.width * schedule.panels;
  const bool is_packed = stages.block > 0;
  const bool is_exact = stages.columns != kOpen && stages.columns % panels.width == 0;

  if (is_packed) {
    // Tiles are shifted by whole panels. What the last one has beyond the columns is computed and not stored.
    result
        .split(column, column, vector, panels.width,
               is_exact ? TailStrategy::RoundUp : TailStrategy::GuardWithIf)
        .split(column, column, panel, schedule.panels,
               ExactOrShifted(panels.count, schedule.panels));
  } else {
    result.split(column, column, vector, width, ExactOrShifted(stages.columns, width))
        .split(vector, panel, vector, panels.width, TailStrategy::RoundUp);
  }
  result.split(vector, vector, lane, panels.lanes, TailStrategy::RoundUp)
      .split(row, row, inner_row, schedule.rows, ExactOrShifted(stages.rows, schedule.rows));
  std::vector<Halide::VarOrRVar> order = {lane, vector, panel, inner_row, row, column};
  for (size_t i = 2; i < vars.size(); ++i) order.emplace_back(vars[i]);
  result.reorder(order).vectorize(lane).unroll(vector).unroll(panel).unroll(inner_row);
  const Var column_of_tiles = Parallelize(
      stages, schedule, CeilDivide(Assumed(stages.columns), width), row, column, result);

  Func accumulator = stages.accumulator;
  const std::vector<Var> a = accumulator.args();
  Var al("al"), av("av");
  // The last tile is computed as a whole, too; what it reads beyond the operands is the lowering's to prevent.
  if (stages.columns == kOpen || (is_packed && !is_exact)) {
    accumulator.bound_extent(a[0], width);
  }
  if (stages.rows == kOpen) accumulator.bound_extent(a[1], schedule.rows);
  accumulator.compute_at(result, row)
      .split(a[0], av, al, panels.lanes, TailStrategy::RoundUp)
      .vectorize(al)
      .unroll(av)
      .unroll(a[1]);
  if (schedule.registers != 0) {
    MarkForTileRegisters(accumulator, {.reduction = stages.reduction, .step = Steps(stages)});
    return;
  }
  // Vectors inside of rows: each broadcast of the left operand is used up at once and holds no register.
  Halide::Stage update = accumulator.update();
  update.split(a[0], av, al, panels.lanes, TailStrategy::RoundUp);
  if (stages.terms > 1) {
    const RVar term(stages.reduction[0]);
    update.reorder({term, al, av, a[1], Steps(stages)}).atomic().vectorize(term);
  } else {
    update.reorder({al, av, a[1], Steps(stages)});
  }
  update.vectorize(al).unroll(av).unroll(a[1]);
  if (schedule.copied != 0) {
    ScheduleCopy(stages, panels.lanes, width, stages.right, result, column_of_tiles);
  }
}

}  // namespace slipway
