#include "client/cli/lists/device_columns.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

// Of a device whose agent tells it.
template <typename Value>
Value OfInventory(const Device& device, Value (*value)(const DeviceInventory& inventory)) {
  return device.inventory.has_value() ? value(*device.inventory) : Value();
}

bool IsGivenWork(const Device& device) {
  return !device.availability.has_value() ||
         device.availability->state == AvailabilityState::kAvailable;
}

// What it does, and whether it is given more.
std::string State(const Device& device, absl::Time) {
  const std::string state = device.state == DeviceState::kBusy
                                ? absl::StrCat("busy with ", device.job_id)
                                : std::string(Name(device.state));
  return IsGivenWork(device) ? state : absl::StrCat(state, ", ", Name(device.availability->state));
}

std::string Seen(const Device& device, absl::Time now) {
  return absl::StrCat(FormatTime(std::max(now - device.last_seen, absl::ZeroDuration())), " ago");
}

std::optional<int64_t> FreeBytes(const Device& device) {
  return OfInventory<std::optional<int64_t>>(
      device, [](const DeviceInventory& inventory) -> std::optional<int64_t> {
        if (inventory.storage_bytes == 0) return std::nullopt;
        return inventory.storage_free_bytes;
      });
}

std::string StorageFree(const Device& device, absl::Time) {
  const std::optional<int64_t> bytes = FreeBytes(device);
  return bytes.has_value() ? FormatBytes(*bytes) : "";
}

std::string Kernel(const Device& device, absl::Time) {
  return OfInventory<std::string>(
      device, [](const DeviceInventory& inventory) { return inventory.kernel; });
}

std::string Machine(const Device& device, absl::Time) {
  return OfInventory<std::string>(device, [](const DeviceInventory& inventory) {
    const bool is_known = inventory.machine != MachineKind::kUnknown;
    return is_known ? std::string(Name(inventory.machine)) : "";
  });
}

std::string Power(const Device& device, absl::Time) {
  return OfInventory<std::string>(device, [](const DeviceInventory& inventory) {
    if (inventory.power == PowerSource::kUnknown) return std::string();
    return absl::StrCat(Name(inventory.power),
                        inventory.charge_percent.has_value()
                            ? absl::StrCat(", ", *inventory.charge_percent, " %")
                            : "");
  });
}

std::string Accelerators(const Device& device, absl::Time) {
  return OfInventory<std::string>(device, [](const DeviceInventory& inventory) {
    return absl::StrJoin(inventory.accelerators, ", ");
  });
}

std::optional<int64_t> Temperature(const Device& device) {
  if (!device.machine.has_value() || device.machine->temperature_millicelsius == 0) return {};
  return device.machine->temperature_millicelsius;
}

std::string TemperatureText(const Device& device, absl::Time) {
  const std::optional<int64_t> temperature = Temperature(device);
  return temperature.has_value()
             ? absl::StrFormat("%.1f C", static_cast<double>(*temperature) / 1e3)
             : "";
}

std::optional<int64_t> Load(const Device& device) {
  if (!device.machine.has_value()) return {};
  return device.machine->load_millis;
}

std::string LoadText(const Device& device, absl::Time) {
  const std::optional<int64_t> load = Load(device);
  return load.has_value() ? absl::StrFormat("%.2f", static_cast<double>(*load) / 1e3) : "";
}

constexpr DeviceColumn kColumns[] = {
    {"id", "DEVICE", [](const Device& device, absl::Time) { return device.id; }},
    {"state", "STATE", State},
    {"target", "TARGET", [](const Device& device, absl::Time) { return device.target; }},
    {"cores", ">CORES", [](const Device& device, absl::Time) { return absl::StrCat(device.cores); },
     [](const Device& device) -> std::optional<int64_t> { return device.cores; }},
    {"memory", ">MEMORY",
     [](const Device& device, absl::Time) { return FormatBytes(device.memory_bytes); },
     [](const Device& device) -> std::optional<int64_t> { return device.memory_bytes; }},
    {"storage-free", ">STORAGE FREE", StorageFree, FreeBytes, /*always_moves=*/true},
    {"seen", ">SEEN", Seen,
     [](const Device& device) -> std::optional<int64_t> {
       return absl::ToUnixNanos(device.last_seen);
     },
     /*always_moves=*/true},
    {"temperature", ">TEMPERATURE", TemperatureText, Temperature, /*always_moves=*/true},
    {"load", ">LOAD", LoadText, Load, /*always_moves=*/true},
    {"model", "MODEL", [](const Device& device, absl::Time) { return device.model; }},
    {"labels", "LABELS", [](const Device& device, absl::Time) { return LabelsText(device); }},
    {"os", "OS", [](const Device& device, absl::Time) { return device.os; }},
    {"kernel", "KERNEL", Kernel},
    {"machine", "MACHINE", Machine},
    {"power", "POWER", Power},
    {"accelerators", "ACCELERATORS", Accelerators},
    {"update", "UPDATE", [](const Device& device, absl::Time) { return UpdateText(device); }},
    {"agent", "AGENT", [](const Device& device, absl::Time) { return device.agent_version; }},
};

constexpr absl::string_view kUsual[] = {"id",     "state", "target", "cores",
                                        "memory", "seen",  "model",  "labels"};

absl::StatusOr<const DeviceColumn*> FindColumn(absl::string_view name) {
  for (const DeviceColumn& column : kColumns) {
    if (column.name == name) return &column;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no column \"", name, "\"; there are ",
                   absl::StrJoin(kColumns, ", ", [](std::string* out, const DeviceColumn& column) {
                     absl::StrAppend(out, column.name);
                   })));
}

}  // namespace

absl::Span<const DeviceColumn> DeviceColumns() { return kColumns; }

std::vector<const DeviceColumn*> UsualColumns(const std::vector<Device>& devices) {
  const bool has_labels =
      absl::c_any_of(devices, [](const Device& device) { return !device.labels.empty(); });
  std::vector<const DeviceColumn*> columns;
  for (const absl::string_view name : kUsual) {
    if (name != "labels" || has_labels) columns.push_back(*FindColumn(name));
  }
  return columns;
}

absl::StatusOr<std::vector<const DeviceColumn*>> ParseColumns(absl::string_view names) {
  std::vector<const DeviceColumn*> columns;
  for (const absl::string_view name : absl::StrSplit(names, ',')) {
    const absl::StatusOr<const DeviceColumn*> column = FindColumn(name);
    if (!column.ok()) return column.status();
    columns.push_back(*column);
  }
  return columns;
}

absl::Status SortDevices(absl::string_view column, std::vector<Device>& devices) {
  const absl::StatusOr<const DeviceColumn*> found = FindColumn(column);
  if (!found.ok()) return found.status();
  const DeviceColumn& by = **found;
  std::stable_sort(devices.begin(), devices.end(), [&by](const Device& a, const Device& b) {
    // An optional that is empty is less than any other.
    if (by.number != nullptr) return by.number(a) > by.number(b);
    const std::string text_a = by.cell(a, absl::UnixEpoch());
    const std::string text_b = by.cell(b, absl::UnixEpoch());
    if (text_a.empty() != text_b.empty()) return text_b.empty();
    return text_a < text_b;
  });
  return absl::OkStatus();
}

std::string UpdateText(const Device& device) {
  if (!device.update.has_value()) return "";
  if (device.update->is_taking) return absl::StrCat("takes ", device.offered_version);
  if (!device.offered_version.empty()) {
    return absl::StrCat("is to take ", device.offered_version);
  }
  return device.update->failure.empty() ? "takes offers" : "has given one up";
}

std::string LabelsText(const Device& device) {
  return absl::StrJoin(device.labels, " ", [](std::string* out, const DeviceLabel& label) {
    absl::StrAppend(out, label.key, "=", label.value);
  });
}

}  // namespace slipway::cli
