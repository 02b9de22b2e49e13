// In what state the machine's accelerators are, as it is told around benchmarks and while samples are taken.
#ifndef SLIPWAY_DEVICE_AGENT_ACCELERATORS_ACCELERATOR_STATES_H_
#define SLIPWAY_DEVICE_AGENT_ACCELERATORS_ACCELERATOR_STATES_H_

#include <memory>
#include <string>

#include "absl/types/span.h"
#include "device_agent/measure/accelerator_watch.h"
#include "proto/slipway/v1/run.pb.h"

namespace slipway {

// Both load a vendor's library: for a process that may crash.

// Adds those that tell; nothing where no vendor's library does.
void AddAcceleratorStates(v1::MachineState& machine);

// Those at these places of the PCI bus; null where no vendor's library tells of one.
std::unique_ptr<AcceleratorWatch> WatchAccelerators(absl::Span<const std::string> pci_addresses);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ACCELERATORS_ACCELERATOR_STATES_H_
