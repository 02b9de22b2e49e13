// Which of the loops of sum_loops.h and read_loops.h a machine runs, this one or another.
#ifndef SLIPWAY_CORE_TARGET_PEAK_TABLES_H_
#define SLIPWAY_CORE_TARGET_PEAK_TABLES_H_

#include <cstdint>
#include <vector>

#include "core/target/target.h"

namespace slipway {

// A loop of multiply-adds.
struct SumLoop {
  const char* type = "";   // "f32", "bf16" or "int8": what is multiplied.
  int number = 0;          // Its row among the architecture's.
  int64_t operations = 0;  // Of a round.
};

// One for each type that the machine multiplies, "f32" first. None for an architecture without rows.
std::vector<SumLoop> SumLoopsFor(const DeviceTarget& machine);

// The row of the loop that reads in the widest vectors.
int ReadLoopFor(const DeviceTarget& machine);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TARGET_PEAK_TABLES_H_
