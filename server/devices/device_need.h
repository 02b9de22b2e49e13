// What a job, or a session, needs of a device, and whether a device has it.
#ifndef SLIPWAY_SERVER_DEVICES_DEVICE_NEED_H_
#define SLIPWAY_SERVER_DEVICES_DEVICE_NEED_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/selector/device_attributes.h"
#include "core/selector/selector.h"
#include "server/devices/can_run.h"

namespace slipway::server {

struct DeviceNeed {
  // This one; or any that matches `selector`, whose canonical form it is then; empty: any that can run the program.
  std::string device;
  ProgramNeeds program;
  std::optional<Selector> selector = {};
};

// What a device has to give.
struct DeviceSupply {
  std::string device;
  DeviceOffer
      offer;  // All of a device that decides what fits it, besides its name and what selectors know.
  // What selectors know of it: another object whenever that is something else. None: only its id is known.
  std::shared_ptr<const DeviceAttributes> attributes = {};
};

// From what a specification names as its device. INVALID_ARGUMENT as Selector::Parse.
absl::StatusOr<DeviceNeed> ReadDeviceNeed(absl::string_view device, ProgramNeeds program);

// Whether it is the device that is meant, whatever it can run.
bool IsMeant(const DeviceNeed& need, const DeviceSupply& supply);

// Whether it is, and can.
bool Fits(const DeviceNeed& need, const DeviceSupply& supply);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_DEVICES_DEVICE_NEED_H_
