// The state of an attached device, as people and results have it.
#ifndef SLIPWAY_DEVICE_AGENT_ATTACHED_ATTACHED_STATE_H_
#define SLIPWAY_DEVICE_AGENT_ATTACHED_ATTACHED_STATE_H_

#include "core/bare_runner/protocol.h"
#include "proto/slipway/v1/run.pb.h"

namespace slipway {

// What can be; the device may be anybody's, and what it says anything. REQUIRES: the governor ends with a zero.
v1::MachineState StateOfAttached(const slipway_bare_state& state);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ATTACHED_ATTACHED_STATE_H_
