// DeviceEntry: an entry of a device's code as its driver knows it: the parameters it takes, and in what sizes it is launched. For all
// drivers whose code has entries.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_DEVICE_ENTRY_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_DEVICE_ENTRY_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/runtime/device.h"

namespace slipway {

struct DeviceEntry {
  std::string name;
  uint32_t parameters = 0;
  // Those of them that are pointers to tensors: the first ones. Unset where nobody tells.
  std::optional<uint32_t> tensors;
  int64_t max_group = 1;     // Instances in a group, of this entry.
  int64_t shared_bytes = 0;  // That its code declares for a group.
};

// What a device launches.
struct LaunchLimits {
  std::array<int64_t, 3> max_groups = {INT64_MAX, INT64_MAX, INT64_MAX};
  std::array<int64_t, 3> max_group_sizes = {1, 1, 1};
  int64_t max_group = 1;     // Instances in a group.
  int64_t shared_bytes = 0;  // Of a group, what its code declares included.
};

// As DeviceCode::CheckArguments. Where nobody tells how many tensors there are, there are no more than parameters.
absl::Status CheckArguments(const DeviceEntry& entry, int inputs, int outputs);

// What DeviceQueues::Prepare binds: INVALID_ARGUMENT, behind `label`, unless each tensor is a parameter, and those that are left are
// at most the extents.
absl::Status CheckParameters(const DeviceEntry& entry, absl::Span<slipway_buffer* const> arguments,
                             absl::string_view label);

// INVALID_ARGUMENT for sizes that the device, `device_name` for people, or the entry does not have. The number of all instances fits
// 64 bits.
absl::Status CheckSizes(const DeviceEntry& entry, const LaunchLimits& limits,
                        const LaunchSizes& sizes, absl::string_view device_name);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_DEVICE_ENTRY_H_
