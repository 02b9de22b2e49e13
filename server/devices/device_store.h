// DeviceStore: the devices a server has met, and what was decided about them, so that it still knows after a restart.
#ifndef SLIPWAY_SERVER_DEVICES_DEVICE_STORE_H_
#define SLIPWAY_SERVER_DEVICES_DEVICE_STORE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "server/devices/device_record.pb.h"

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

  // Stores a standing in place of that of revision `replaces`, 0: of none; durably. ABORTED when another is stored.
  virtual absl::Status PutStanding(const DeviceStanding& standing, int64_t replaces) = 0;
  virtual absl::StatusOr<std::vector<DeviceStanding>> LoadStandings() const = 0;
  virtual absl::Status DeleteStanding(absl::string_view device) = 0;

  // Stores a reservation, new or changed; durably.
  virtual absl::Status PutReservation(const ReservationRecord& record) = 0;
  virtual absl::StatusOr<std::vector<ReservationRecord>> LoadReservations() const = 0;
  virtual absl::Status DeleteReservation(absl::string_view id) = 0;
};

// Description, agent, versions, labels of administrators, what its agent said of its binary, and when it was last seen.
v1::Device KeptOf(const v1::Device& device);

// What stores say alike: another server has changed the standing of a device.
absl::Status StandingChangedMeanwhile(absl::string_view device);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_DEVICES_DEVICE_STORE_H_
