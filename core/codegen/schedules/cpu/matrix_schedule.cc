#include "core/codegen/schedules/cpu/matrix_schedule.h"

#include <algorithm>
#include <vector>

#include "core/codegen/schedules/cpu/loops.h"
#include "core/codegen/schedules/cpu/tiles.h"

namespace slipway {

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

void ScheduleMatrixProduct(const MachineDescription& machine, const MatrixStages& stages,
                           Func result) {
  const std::vector<Var> vars = result.args();
  const Var column = vars[0], row = vars[1];
  Var lane("lane"), vector("vector"), inner_row("inner_row");
  const int lanes =
      stages.block > 0 ? stages.block : LanesWithin(FloatLanes(machine), stages.columns);
  const int vectors = std::max(1, Assumed(stages.columns) / lanes);
  const AccumulatorTile tile = ChooseTile(Assumed(stages.rows), vectors, machine.vector_registers);
  const int width = tile.blocks * lanes;

  result.split(column, column, vector, width, ExactOrShifted(stages.columns, width))
      .split(vector, vector, lane, lanes, TailStrategy::RoundUp)
      .split(row, row, inner_row, tile.width, ExactOrShifted(stages.rows, tile.width));
  std::vector<Halide::VarOrRVar> order = {lane, vector, inner_row, row, column};
  for (size_t i = 2; i < vars.size(); ++i) order.emplace_back(vars[i]);
  result.reorder(order).vectorize(lane).unroll(vector).unroll(inner_row);

  const auto* depth = stages.reduction.x.extent().as<Halide::Internal::IntImm>();
  const int64_t work = int64_t{Assumed(stages.columns)} * Assumed(stages.rows) * stages.batch *
                       (depth == nullptr ? kAssumedExtent : depth->value);
  Var tile_loop = row;
  if (work > kElementsPerTask) {
    std::vector<OuterLoop> loops = {{row, (Assumed(stages.rows) + tile.width - 1) / tile.width},
                                    {column, (Assumed(stages.columns) + width - 1) / width}};
    // The batch dimensions' own extents do not matter here, only that they run at all.
    for (size_t i = 2; i < vars.size(); ++i) loops.push_back({vars[i], stages.batch});
    tile_loop = ParallelizeOuter(result, loops);
  }

  Func accumulator = stages.accumulator;
  const std::vector<Var> a = accumulator.args();
  Var al("al"), av("av");
  // The last tile is computed as a whole, too; what it reads beyond the operands is the lowering's to prevent.
  if (stages.columns == kOpen) accumulator.bound_extent(a[0], width);
  if (stages.rows == kOpen) accumulator.bound_extent(a[1], tile.width);
  accumulator.compute_at(result, tile_loop)
      .split(a[0], av, al, lanes, TailStrategy::RoundUp)
      .vectorize(al)
      .unroll(av)
      .unroll(a[1]);
  accumulator.update()
      .split(a[0], av, al, lanes, TailStrategy::RoundUp)
      .reorder({al, av, a[1], RVar(stages.reduction.x)})
      .vectorize(al)
      .unroll(av)
      .unroll(a[1]);
}

}  // namespace slipway
