// DeviceStore: the devices a server has met, so that it still knows them after a restart.
#ifndef SLIPWAY_SERVER_DEVICES_DEVICE_STORE_H_
#define SLIPWAY_SERVER_DEVICES_DEVICE_STORE_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/slipway/v1/fleet.pb.h"

namespace slipway::server {

// Thread-safe. Errors are those of JobStore.
class DeviceStore {
 public:
  virtual ~DeviceStore() = default;
  // Keeps what KeptOf leaves of `device`, by its id.
  virtual absl::Status SaveDevice(const v1::Device& device) = 0;
  // Every device kept, sorted by id.
  virtual absl::StatusOr<std::vector<v1::Device>> LoadDevices() const = 0;
  virtual absl::Status DeleteDevice(absl::string_view id) = 0;
};

// Description, agent, versions, labels of administrators and when it was last seen.
v1::Device KeptOf(const v1::Device& device);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_DEVICES_DEVICE_STORE_H_
