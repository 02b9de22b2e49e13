#include "server/devices/device_need.h"

#include <utility>

#include "core/base/status_macros.h"

namespace slipway::server {

absl::StatusOr<DeviceNeed> ReadDeviceNeed(absl::string_view device, ProgramNeeds program) {
  DeviceNeed need{.device = std::string(device), .program = std::move(program)};
  if (!IsSelector(device)) return need;
  SLIPWAY_ASSIGN_OR_RETURN(need.selector, Selector::Parse(device));
  need.device = need.selector->ToString();
  return need;
}

bool IsMeant(const DeviceNeed& need, const DeviceSupply& supply) {
  if (need.selector.has_value()) {
    return supply.attributes != nullptr && need.selector->Matches(*supply.attributes);
  }
  return need.device.empty() || need.device == supply.device;
}

bool Fits(const DeviceNeed& need, const DeviceSupply& supply) {
  return IsMeant(need, supply) && CheckCanRun(need.program, supply.offer).ok();
}

}  // namespace slipway::server
