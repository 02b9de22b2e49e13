// Matrix products on CPUs: tiles of rows times vectors of columns in registers.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_MATRIX_SCHEDULE_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_MATRIX_SCHEDULE_H_

#include <halide14/Halide.h>

#include "core/codegen/anchor.h"
#include "core/target/machine_description.h"

namespace slipway {

// `result` has the accumulator's dimensions.
void ScheduleMatrixProduct(const MachineDescription& machine, const MatrixStages& stages,
                           Halide::Func result);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_MATRIX_SCHEDULE_H_
