// IsFasterByHalves: which products are faster by seven of half their extents.
#ifndef SLIPWAY_CORE_BACKENDS_CPU_STRASSEN_CHOICE_H_
#define SLIPWAY_CORE_BACKENDS_CPU_STRASSEN_CHOICE_H_

#include <cstdint>

#include "core/target/machine_description.h"

namespace slipway {

// Cycles of one core for a product of f32, the right matrix constant: as it is, and by seven products of its halves with the sums of
// quarters around them. To be compared with each other, not with a clock.
double WholeCycles(const MachineDescription& machine, int64_t rows, int64_t depth, int64_t columns);
double HalvedCycles(const MachineDescription& machine, int64_t rows, int64_t depth,
                    int64_t columns);

// Whether it saves enough to be worth weights of 7/4 the bytes, and sums that round more.
bool IsFasterByHalves(const MachineDescription& machine, int64_t rows, int64_t depth,
                      int64_t columns);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_CPU_STRASSEN_CHOICE_H_
