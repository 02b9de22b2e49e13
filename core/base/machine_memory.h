// How much memory there is, and how much of it this process has.
#ifndef SLIPWAY_CORE_BASE_MACHINE_MEMORY_H_
#define SLIPWAY_CORE_BASE_MACHINE_MEMORY_H_

#include <cstdint>

namespace slipway {

// Memory of the machine, or what this process's control group (version 2) may use of it.
int64_t MachineMemoryBytes();

// What this process holds of it for itself alone: without files that it maps. Takes some microseconds; 0 where /proc does not tell.
int64_t OwnMemoryBytes();

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_MACHINE_MEMORY_H_
