// The columns of the table of devices: what they show, and how devices are sorted by them.
#ifndef SLIPWAY_CLIENT_CLI_LISTS_DEVICE_COLUMNS_H_
#define SLIPWAY_CLIENT_CLI_LISTS_DEVICE_COLUMNS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/types.h"

namespace slipway::cli {

struct DeviceColumn {
  absl::string_view name;   // As it is typed.
  absl::string_view title;  // As TextTable takes it.
  // Empty where it is not known.
  std::string (*cell)(const Device& device, absl::Time now);
  // What devices are sorted by, the largest first; those of which it is not known come last. Null: by the cells, by their bytes.
  std::optional<int64_t> (*number)(const Device& device) = nullptr;
  // It is another one with nearly each report.
  bool always_moves = false;
};

absl::Span<const DeviceColumn> DeviceColumns();

// Those that are shown when none are chosen; labels where there are some.
std::vector<const DeviceColumn*> UsualColumns(const std::vector<Device>& devices);

// "id,cores,labels". INVALID_ARGUMENT names those that there are.
absl::StatusOr<std::vector<const DeviceColumn*>> ParseColumns(absl::string_view names);

// Devices that are equal by it stay in their order. INVALID_ARGUMENT as above.
absl::Status SortDevices(absl::string_view column, std::vector<Device>& devices);

// Of its agent: "takes 1.2.3", "is to take 1.2.3", "has given one up", "takes offers"; empty: it takes none.
std::string UpdateText(const Device& device);

// "lab=berlin rack=2"
std::string LabelsText(const Device& device);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_LISTS_DEVICE_COLUMNS_H_
