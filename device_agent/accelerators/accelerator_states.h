// In what state the machine's accelerators are, as it is told around benchmarks.
#ifndef SLIPWAY_DEVICE_AGENT_ACCELERATORS_ACCELERATOR_STATES_H_
#define SLIPWAY_DEVICE_AGENT_ACCELERATORS_ACCELERATOR_STATES_H_

#include "proto/slipway/v1/run.pb.h"

namespace slipway {

// Adds those that tell; nothing where no vendor's library does. Loads such a library: for a process that may crash.
void AddAcceleratorStates(v1::MachineState& machine);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ACCELERATORS_ACCELERATOR_STATES_H_
