// What the machine is that this runs on.
#ifndef SLIPWAY_DEVICE_AGENT_OWN_DEVICE_H_
#define SLIPWAY_DEVICE_AGENT_OWN_DEVICE_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/slipway/v1/fleet.pb.h"

namespace slipway {

// As a device: target, memory, inventory, and what programs cannot be kept from here; without id, labels and accelerators. `cache_folder` is
// where blobs are to be, and lies on the disk that counts; `accelerator_folder`, if not empty, what libraries of accelerators keep, for which
// programs are confined less. FAILED_PRECONDITION where programs must be confined wholly and cannot be. It forks: to
// be called before there are threads that hold locks.
absl::StatusOr<v1::DeviceDescription> DescribeThisMachine(const std::string& cache_folder,
                                                          const std::string& accelerator_folder,
                                                          bool require_confinement);

// Of that what may change while it runs.
v1::DeviceInventory TakeInventory(const std::string& cache_folder);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_OWN_DEVICE_H_
