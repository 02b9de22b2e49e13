// Matrix products on CPUs: tiles of rows times vectors of columns in registers.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_MATRIX_SCHEDULE_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_MATRIX_SCHEDULE_H_

#include <halide14/Halide.h>

#include "core/codegen/anchor.h"
#include "core/codegen/schedules/parameters.h"
#include "core/target/machine_description.h"

namespace slipway {

// How a product is cut.
struct ProductSchedule {
  // A tile: rows by panels of the right operand, of columns that lie together.
  int rows = 1;
  int panels = 1;
  int parallel = 0;  // 1: columns of tiles are tasks,
  int strips = 1;    // cut into so many parts, each of whole rows of tiles.
  int copied =
      0;  // 1: what a column of tiles reads of the right operand is copied together before.
  int registers = 0;  // 1: sums are made in tile registers (core/codegen/tile_registers.h).
};

ProductSchedule ChooseMatrixProduct(const MachineDescription& machine, const MatrixStages& stages);
Parameters MatrixProductParameters(const MachineDescription& machine, const MatrixStages& stages,
                                   ProductSchedule& schedule);
// `result` has the accumulator's dimensions.
void ScheduleMatrixProduct(const MachineDescription& machine, const MatrixStages& stages,
                           const ProductSchedule& schedule, Halide::Func result);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_MATRIX_SCHEDULE_H_
