// What a machine has for sums of products of small numbers, several of which are added at once.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_TERM_PRODUCTS_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_TERM_PRODUCTS_H_

#include <halide14/Halide.h>

#include "core/target/machine_description.h"

namespace slipway {

// Whether the products of a step, of so many terms, are added to each other before they are added to a sum, by an instruction of
// their own. `accumulator` is the sum: of floats, those of bf16, else of integers.
bool AddsApart(const MachineDescription& machine, Halide::Func accumulator, int terms);

// Whether there are tile registers for such sums: of pairs of bf16, and of fours of bytes.
bool HasTileRegistersFor(const MachineDescription& machine, Halide::Func accumulator, int terms);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_TERM_PRODUCTS_H_
