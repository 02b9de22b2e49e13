// What this process takes of its machine. Its memory: machine_memory.h.
#ifndef SLIPWAY_CORE_BASE_OWN_PROCESS_H_
#define SLIPWAY_CORE_BASE_OWN_PROCESS_H_

#include "absl/time/time.h"

namespace slipway {

// How many files and connections it has open. Reads /proc, some milliseconds where there are thousands; 0 where that does not tell.
int OpenDescriptors();

// Processor time of all its threads so far, the system's work for it included.
absl::Duration OwnProcessorTime();

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_OWN_PROCESS_H_
