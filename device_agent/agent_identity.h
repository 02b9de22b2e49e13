// Who an agent is, and what its device is.
#ifndef SLIPWAY_DEVICE_AGENT_AGENT_IDENTITY_H_
#define SLIPWAY_DEVICE_AGENT_AGENT_IDENTITY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/fleet.pb.h"

namespace slipway {

// Whether `id` is of the form of DeviceDescription.id. INVALID_ARGUMENT says what is wrong.
absl::Status CheckAgentId(absl::string_view id);

// The id that the state folder keeps: `wanted` if not empty, else the one it keeps already, else a
// new one made of the machine's name and random digits. INVALID_ARGUMENT for a bad `wanted`.
absl::StatusOr<std::string> KeepAgentId(const std::string& state_folder, const std::string& wanted);

// The lower-case name a host name gives; "device" if nothing of it can be used.
std::string IdFromHostName(absl::string_view host_name);

// What every report begins with: ids, versions and the device, which gets the agent's id; with a new instance_id.
v1::AgentState MakeIdentity(const std::string& agent_id, v1::DeviceDescription device);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_AGENT_IDENTITY_H_
