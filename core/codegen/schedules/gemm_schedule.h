// Schedules of matrix products: tiles of rows times vectors of columns in registers.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_GEMM_SCHEDULE_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_GEMM_SCHEDULE_H_

#include <halide14/Halide.h>

#include "core/codegen/machine.h"

namespace slipway {

struct GemmStages {
  Halide::Func accumulator;  // (column, row, batch...), summed in its one update over one RVar.
  Halide::RDom reduction;
  int columns = 1;
  int rows = 1;
  int64_t batch = 1;  // The product of the batch dimensions.
  // Columns of one packed block, a power of two that divides `columns`; 0 when the right operand is
  // row-major and any vector will do.
  int block = 0;
};

// `result` has the accumulator's dimensions.
void ScheduleGemm(const Machine& machine, const GemmStages& stages, Halide::Func result);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_GEMM_SCHEDULE_H_
