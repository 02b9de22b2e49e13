// What vendors' libraries are told by the agent's environment: where they lie, and which devices they may use.
#ifndef SLIPWAY_DEVICE_AGENT_ACCELERATORS_ACCELERATOR_ENVIRONMENT_H_
#define SLIPWAY_DEVICE_AGENT_ACCELERATORS_ACCELERATOR_ENVIRONMENT_H_

#include <string>
#include <utility>
#include <vector>

namespace slipway {

// Variables of this process for a child that works with accelerators and inherits nothing else.
std::vector<std::pair<std::string, std::string>> AcceleratorEnvironment();

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ACCELERATORS_ACCELERATOR_ENVIRONMENT_H_
