// AttachedMachine: another machine that programs run on.
#ifndef SLIPWAY_DEVICE_AGENT_MEASURE_ATTACHED_MACHINE_H_
#define SLIPWAY_DEVICE_AGENT_MEASURE_ATTACHED_MACHINE_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "core/runtime/device.h"
#include "core/target/target.h"
#include "proto/slipway/v1/run.pb.h"

namespace slipway {

// A value. This machine's clock, memory and state say nothing of it.
struct AttachedMachine {
  std::shared_ptr<ComputeDevice> device;
  DeviceTarget target;
  // Its state now; what is not told, or cannot be, is left out.
  std::function<v1::MachineState()> read_state;
  // What its clock tells apart, as it says; 0 or more.
  int64_t clock_resolution_ns = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_MEASURE_ATTACHED_MACHINE_H_
