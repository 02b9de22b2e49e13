#include "core/codegen/schedules/cpu/matrix_schedule.h"

#include <algorithm>
#include <vector>

#include "core/codegen/schedules/cpu/loops.h"
#include "core/codegen/schedules/cpu/tiles.h"

namespace slipway {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

// How a product is cut.
struct Cut {
  int lanes = 1;   // Of a vector of columns.
  int panel = 1;   // Columns that lie together in the right operand: whole vectors.
  int panels = 1;  // That there are.
  ProductTile tile;
  int width() const { return panel * tile.panels; }
};

Cut CutOf(const MachineDescription& machine, const MatrixStages& stages) {
  Cut cut;
  const int columns = Assumed(stages.columns);
  cut.lanes = LanesWithin(FloatLanes(machine), stages.block > 0 ? stages.block : stages.columns);
  cut.panel = std::max(stages.block, cut.lanes);
  // What is not packed has tiles that are shifted inwards by any number of columns.
  cut.panels = stages.block > 0 ? static_cast<int>(CeilDivide(columns, cut.panel))
                                : std::max(1, columns / cut.panel);
  cut.tile = ChooseProductTile(Assumed(stages.rows), cut.panels, cut.panel / cut.lanes,
                               machine.vector_registers);
  return cut;
}

// The number of steps, or kOpen.
int Depth(const MatrixStages& stages) {
  const auto* depth = stages.reduction.x.extent().as<Halide::Internal::IntImm>();
  return depth == nullptr ? kOpen : static_cast<int>(depth->value);
}

// Whether columns of the right operand are copied together before they are multiplied: its rows lie far apart, and many of
// them in the same few lines of a cache. That takes about as long as one tile.
bool IsCopied(const MatrixStages& stages, const Cut& cut) {
  constexpr int64_t kTilesWorthACopy = 4;
  if (!stages.right.defined()) return false;
  return stages.right_is_transposed || stages.columns == kOpen ||
         CeilDivide(Assumed(stages.rows), cut.tile.rows) >= kTilesWorthACopy;
}

void ScheduleCopy(const MatrixStages& stages, const Cut& cut, Func right, Func result,
                  const Var& at) {
  const std::vector<Var> vars = right.args();
  const Var column = vars[0], step = vars[1];
  Var lane("lane"), vector("vector");
  right.compute_at(result, at).bound_extent(column, cut.width());
  const int lanes = LanesWithin(cut.lanes, Depth(stages));
  if (stages.right_is_transposed) {
    // Scattered stores come cheaper than loads that are gathered.
    right.split(step, step, lane, lanes, ExactOrShifted(Depth(stages), lanes))
        .reorder(lane, column, step)
        .vectorize(lane)
        .unroll(column);
  } else {
    right.split(column, vector, lane, cut.lanes, TailStrategy::RoundUp)
        .vectorize(lane)
        .unroll(vector);
  }
}

// Tasks that are worth it: all tiles of a column of them share what they read of the right operand, and stay together
// but where there are too few columns.
// The loop in which a column of tiles, or a part of one, is computed.
Var Parallelize(const MachineDescription& machine, const MatrixStages& stages, const Cut& cut,
                const Var& row, const Var& column, Func result) {
  const int64_t work = int64_t{Assumed(stages.columns)} * Assumed(stages.rows) * stages.batch *
                       Assumed(Depth(stages));
  const int64_t wanted = std::min(WantedTasks(machine), work / kMultiplyAddsPerTask);
  if (wanted <= 1) return column;
  const int64_t column_tiles = CeilDivide(Assumed(stages.columns), cut.width());
  const int64_t row_tiles = CeilDivide(Assumed(stages.rows), cut.tile.rows);
  const std::vector<Var> vars = result.args();
  std::vector<OuterLoop> loops;
  if (column_tiles * stages.batch < wanted && row_tiles > 1) {
    Var strip("strip");
    const int64_t strips = std::min(row_tiles, CeilDivide(wanted, column_tiles * stages.batch));
    result.split(row, strip, row, static_cast<int>(CeilDivide(row_tiles, strips)),
                 TailStrategy::GuardWithIf);
    std::vector<Halide::VarOrRVar> order = {row, strip, column};
    result.reorder(order);
    loops.push_back({strip, strips});
  }
  loops.push_back({column, column_tiles});
  // The batch dimensions' own extents do not matter here, only that they run at all.
  for (size_t i = 2; i < vars.size(); ++i) loops.push_back({vars[i], stages.batch});
  return ParallelizeOuter(result, loops);
}

}  // namespace

void ScheduleMatrixProduct(const MachineDescription& machine, const MatrixStages& stages,
                           Func result) {
  const std::vector<Var> vars = result.args();
  const Var column = vars[0], row = vars[1];
  Var lane("lane"), vector("vector"), panel("panel"), inner_row("inner_row");
  const Cut cut = CutOf(machine, stages);
  const bool is_packed = stages.block > 0;
  const bool is_exact = stages.columns != kOpen && stages.columns % cut.panel == 0;

  if (is_packed) {
    // Tiles are shifted by whole panels. What the last one has beyond the columns is computed and not stored.
    result
        .split(column, column, vector, cut.panel,
               is_exact ? TailStrategy::RoundUp : TailStrategy::GuardWithIf)
        .split(column, column, panel, cut.tile.panels, ExactOrShifted(cut.panels, cut.tile.panels));
  } else {
    result.split(column, column, vector, cut.width(), ExactOrShifted(stages.columns, cut.width()))
        .split(vector, panel, vector, cut.panel, TailStrategy::RoundUp);
  }
  result.split(vector, vector, lane, cut.lanes, TailStrategy::RoundUp)
      .split(row, row, inner_row, cut.tile.rows, ExactOrShifted(stages.rows, cut.tile.rows));
  std::vector<Halide::VarOrRVar> order = {lane, vector, panel, inner_row, row, column};
  for (size_t i = 2; i < vars.size(); ++i) order.emplace_back(vars[i]);
  result.reorder(order).vectorize(lane).unroll(vector).unroll(panel).unroll(inner_row);
  const Var column_of_tiles = Parallelize(machine, stages, cut, row, column, result);

  Func accumulator = stages.accumulator;
  const std::vector<Var> a = accumulator.args();
  Var al("al"), av("av");
  // The last tile is computed as a whole, too; what it reads beyond the operands is the lowering's to prevent.
  if (stages.columns == kOpen || (is_packed && !is_exact)) {
    accumulator.bound_extent(a[0], cut.width());
  }
  if (stages.rows == kOpen) accumulator.bound_extent(a[1], cut.tile.rows);
  accumulator.compute_at(result, row)
      .split(a[0], av, al, cut.lanes, TailStrategy::RoundUp)
      .vectorize(al)
      .unroll(av)
      .unroll(a[1]);
  // Vectors inside of rows: each broadcast of the left operand is used up at once and holds no register.
  accumulator.update()
      .split(a[0], av, al, cut.lanes, TailStrategy::RoundUp)
      .reorder({al, av, a[1], RVar(stages.reduction.x)})
      .vectorize(al)
      .unroll(av)
      .unroll(a[1]);
  if (IsCopied(stages, cut)) ScheduleCopy(stages, cut, stages.right, result, column_of_tiles);
}

}  // namespace slipway
