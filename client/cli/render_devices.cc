#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/render.h"
#include "client/cli/render_parts.h"
#include "client/cli/wait_text.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

std::string KindText(const DeviceLease& lease) {
  return lease.kind.has_value() ? std::string(Name(*lease.kind)) : "unknown";
}

// When a session ends that nobody ends; other jobs end when they are done.
std::string EndText(const DeviceLease& lease) {
  if (lease.idle_until.has_value()) {
    return absl::StrCat(FormatWallTime(*lease.idle_until), ", unless it is taken up");
  }
  if (lease.idle == absl::ZeroDuration()) return "when it is done";
  return absl::StrCat(absl::FormatDuration(lease.idle), " without its client");
}

// Why it is given no work, or not everybody's; and when that begins. Empty when there is nothing to say.
std::string AvailabilityNote(const Device& device, absl::Time now) {
  if (!device.availability.has_value()) return "";
  const DeviceAvailability& availability = *device.availability;
  std::string note;
  if (availability.state != AvailabilityState::kAvailable &&
      availability.state != AvailabilityState::kReserved) {
    note = absl::StrCat(Name(availability.state), " by ",
                        availability.by.empty() ? "the server" : Printable(availability.by),
                        " since ", FormatWallTime(availability.since),
                        availability.reason.empty() ? "" : ": ", Printable(availability.reason));
  }
  if (availability.reservation.has_value()) {
    const Reservation& reservation = *availability.reservation;
    absl::StrAppend(&note, note.empty() ? "" : "; ", ReservedText(reservation, now),
                    reservation.purpose.empty() ? "" : ": ", Printable(reservation.purpose));
  }
  return note.empty() ? "" : absl::StrCat(Printable(device.id), " is ", note, "\n");
}

void AvailabilityJson(JsonWriter& json, const DeviceAvailability& availability) {
  json.BeginObject("availability");
  json.Text("state", Name(availability.state));
  json.Text("reason", availability.reason);
  json.Text("by", availability.by);
  availability.since == absl::InfinitePast()
      ? json.Null("since_ns")
      : json.Integer("since_ns", absl::ToUnixNanos(availability.since));
  availability.reservation.has_value()
      ? ReservationJson(json, "reservation", *availability.reservation)
      : json.Null("reservation");
  json.EndObject();
}

std::string HealthText(const Device& device) {
  if (!device.health.has_value()) return "";
  const DeviceHealth& health = *device.health;
  std::string text =
      health.probe_end == absl::InfinitePast()
          ? "  not probed yet"
          : absl::StrCat("  probed at ", FormatWallTime(health.probe_end), ": ",
                         health.probe_error.empty()
                             ? absl::StrCat("passed, a call took ", FormatTime(health.probe_call))
                             : Printable(health.probe_error));
  if (health.usual_call > absl::ZeroDuration()) {
    absl::StrAppend(&text, ", usually ", FormatTime(health.usual_call));
  }
  if (health.failures > 0) absl::StrAppend(&text, "; ", health.failures, " failures in a row");
  return text + "\n";
}

void HealthJson(JsonWriter& json, const DeviceHealth& health) {
  json.BeginObject("health");
  json.Integer("failures", health.failures);
  json.Integer("passes", health.passes);
  health.probe_end == absl::InfinitePast()
      ? json.Null("probe_end_ns")
      : json.Integer("probe_end_ns", absl::ToUnixNanos(health.probe_end));
  json.Text("probe_error", health.probe_error);
  json.Integer("probe_call_ns", absl::ToInt64Nanoseconds(health.probe_call));
  json.Integer("usual_call_ns", absl::ToInt64Nanoseconds(health.usual_call));
  json.EndObject();
}

std::string ConfinementText(const Device& device) {
  if (!device.confinement.has_value()) return "  its agent does not confine programs\n";
  if (device.confinement->missing.empty()) return "  programs are confined\n";
  std::string text = "  programs are confined, but not wholly; it lacks\n";
  for (const std::string& part : device.confinement->missing) {
    absl::StrAppend(&text, "    ", Printable(part), "\n");
  }
  return text;
}

// A line for each that its agent tells.
std::string InventoryText(const Device& device) {
  TextTable table({"", ""});
  if (!device.labels.empty()) table.Row({"labels", LabelsText(device)});
  if (device.inventory.has_value()) {
    const DeviceInventory& inventory = *device.inventory;
    table.Row({"machine", std::string(Name(inventory.machine))});
    if (!inventory.kernel.empty()) table.Row({"kernel", inventory.kernel});
    for (const CoreKind& kind : inventory.core_kinds) {
      const std::string frequency =
          kind.max_frequency_hz > 0
              ? absl::StrCat(", ", kind.max_frequency_hz / 1'000'000, " MHz at most")
              : "";
      table.Row({"cores", absl::StrCat(kind.cores, " of capacity ", kind.capacity, frequency)});
    }
    if (inventory.storage_bytes > 0) {
      table.Row({"storage", absl::StrCat(FormatBytes(inventory.storage_free_bytes), " free of ",
                                         FormatBytes(inventory.storage_bytes))});
    }
    if (inventory.power != PowerSource::kUnknown || inventory.charge_percent.has_value()) {
      const std::string charge =
          inventory.charge_percent.has_value()
              ? absl::StrCat(", charged to ", *inventory.charge_percent, " %")
              : "";
      table.Row({"power", absl::StrCat(Name(inventory.power), charge)});
    }
    for (const std::string& accelerator : inventory.accelerators) {
      table.Row({"accelerator", accelerator});
    }
  }
  return table.Render("  ", false);
}

void InventoryJson(JsonWriter& json, const DeviceInventory& inventory) {
  json.BeginObject("inventory");
  json.BeginArray("core_kinds");
  for (const CoreKind& kind : inventory.core_kinds) {
    json.BeginObject();
    json.Integer("cores", kind.cores);
    json.Integer("capacity", kind.capacity);
    json.Integer("max_frequency_hz", kind.max_frequency_hz);
    json.EndObject();
  }
  json.EndArray();
  json.Text("kernel", inventory.kernel);
  json.Integer("storage_bytes", inventory.storage_bytes);
  json.Integer("storage_free_bytes", inventory.storage_free_bytes);
  json.Text("power", Name(inventory.power));
  inventory.charge_percent.has_value() ? json.Integer("charge_percent", *inventory.charge_percent)
                                       : json.Null("charge_percent");
  json.Text("machine", Name(inventory.machine));
  json.BeginArray("accelerators");
  for (const std::string& accelerator : inventory.accelerators) json.Text("", accelerator);
  json.EndArray();
  json.EndObject();
}

std::string UpdateFacts(const Device& device) {
  const std::string text = UpdateText(device);
  if (text.empty()) return "";
  const std::string& failure = device.update->failure;
  return absl::StrCat("  its agent ", Printable(text),
                      failure.empty() ? "" : "; the last one: ", Printable(failure), "\n");
}

void UpdateJson(JsonWriter& json, const Device& device) {
  json.BeginObject("update");
  json.Text("platform", device.update->platform);
  json.Text("binary", device.update->binary.hex());
  json.Text("offered_version", device.offered_version);
  json.Bool("taking", device.update->is_taking);
  json.Text("failure", device.update->failure);
  json.EndObject();
}

void LabelsJson(JsonWriter& json, const std::vector<DeviceLabel>& labels) {
  json.BeginArray("labels");
  for (const DeviceLabel& label : labels) {
    json.BeginObject();
    json.Text("key", label.key);
    json.Text("value", label.value);
    json.Bool("by_administrator", label.by_administrator);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string RenderLeases(const std::vector<Device>& devices) {
  if (devices.empty()) return "no devices\n";
  TextTable table({"DEVICE", "STATE", "HELD BY", "FOR", "JOB", "SINCE", "ENDS", "AT THE LATEST"});
  for (const Device& device : devices) {
    const std::string state(Name(device.state));
    if (!device.lease.has_value()) {
      table.Row({device.id, state, "", "", "", "", "", ""});
      continue;
    }
    const DeviceLease& lease = *device.lease;
    const std::string purpose = lease.purpose.empty() ? "" : absl::StrCat(": ", lease.purpose);
    table.Row({device.id, state, lease.owner, KindText(lease) + purpose, lease.job_id,
               FormatWallTime(lease.since), EndText(lease), FormatWallTime(lease.until)});
  }
  return table.Render();
}

std::string RenderLabels(const std::string& device, const Labels& labels) {
  if (labels.empty()) {
    return absl::StrCat("device ", device, " has no labels of administrators\n");
  }
  return absl::StrCat("device ", device, ": ", absl::StrJoin(labels, " ", absl::PairFormatter("=")),
                      "\n");
}

std::string RenderLabelsJson(const std::string& device, const Labels& labels) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Text("device", device);
  json.BeginObject("labels");
  for (const auto& [key, value] : labels) json.Text(key, value);
  json.EndObject();
  json.EndObject();
  return json.Take();
}

std::string RenderTakenLease(const TakenLease& lease) {
  TextTable table({"", ""});
  table.Row({"session", lease.session});
  table.Row({"ticket", lease.ticket});
  table.Row({"device", lease.device});
  table.Row({"until", absl::StrCat(FormatWallTime(lease.until), ", unless it is taken up")});
  return absl::StrCat(table.Render("", false), "take it up with: slipway session --lease ",
                      lease.session, ":", lease.ticket, "\n");
}

std::string RenderTakenLeaseJson(const TakenLease& lease) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Text("session", lease.session);
  json.Text("ticket", lease.ticket);
  json.Text("device", lease.device);
  json.Text("target", lease.target);
  json.Integer("until_ns", absl::ToUnixNanos(lease.until));
  json.EndObject();
  return json.Take();
}

std::string RenderDevices(const std::vector<Device>& devices, absl::Time now) {
  return RenderDevices(devices, now, UsualColumns(devices));
}

std::string RenderDevices(const std::vector<Device>& devices, absl::Time now,
                          const std::vector<const DeviceColumn*>& columns) {
  if (devices.empty()) return "no devices\n";
  std::vector<std::string> titles;
  for (const DeviceColumn* column : columns) titles.emplace_back(column->title);
  TextTable table(titles);
  std::string notes;
  std::string warnings;
  for (const Device& device : devices) {
    std::vector<std::string> cells;
    for (const DeviceColumn* column : columns) cells.push_back(column->cell(device, now));
    table.Row(std::move(cells));
    absl::StrAppend(&notes, AvailabilityNote(device, now));
    if (!device.warning.empty()) {
      absl::StrAppend(&warnings, "warning: ", Printable(device.id), ": ", Printable(device.warning),
                      "\n");
    }
  }
  return table.Render() + notes + warnings;
}

namespace {

void AddRates(std::string whose, absl::Span<const ArithmeticPeak> arithmetic,
              absl::Span<const ReadingPeak> reading, TextTable& table) {
  for (const ArithmeticPeak& each : arithmetic) {
    table.Row({std::move(whose), absl::StrFormat("%.1f GOP/s", each.operations_per_second / 1e9),
               each.type});
    whose.clear();
  }
  for (const ReadingPeak& each : reading) {
    table.Row(
        {"", absl::StrFormat("%.1f GB/s", each.bytes_per_second / 1e9),
         each.bytes == 0 ? each.level : absl::StrCat(each.level, ", ", FormatBytes(each.bytes))});
  }
}

std::string AcceleratorPeaksText(const std::vector<AcceleratorPeaks>& accelerators) {
  if (accelerators.empty()) return "";
  TextTable table({"ACCELERATOR", ">AT MOST", "OF"});
  for (const AcceleratorPeaks& each : accelerators) {
    AddRates(Printable(each.name), each.arithmetic, each.reading, table);
    for (const auto& [rate, what] : {std::pair{each.from_host_bytes_per_second, "from host"},
                                     {each.to_host_bytes_per_second, "to host"}}) {
      table.Row({"", absl::StrFormat("%.1f GB/s", rate / 1e9), what});
    }
  }
  return table.Render("  ");
}

}  // namespace

std::string RenderDeviceFacts(const std::vector<Device>& devices) {
  std::string text;
  for (const Device& device : devices) {
    absl::StrAppend(&text, "\n", Printable(device.id), ": ", Printable(device.os), "; agent ",
                    Printable(device.agent_version), "\n", InventoryText(device),
                    ConfinementText(device), HealthText(device));
    absl::StrAppend(&text, UpdateFacts(device));
    if (device.is_compiled_only) {
      absl::StrAppend(&text, "  takes only programs compiled by this server\n");
    }
    if (device.peaks.empty()) {
      absl::StrAppend(&text, "  its agent does not tell, or not yet, what it does at most\n");
      continue;
    }
    TextTable table({">THREADS", ">AT MOST", "OF"});
    for (const MachinePeaks& each : device.peaks) {
      AddRates(absl::StrCat(each.threads), each.arithmetic, each.reading, table);
    }
    absl::StrAppend(&text, table.Render("  "), AcceleratorPeaksText(device.accelerator_peaks));
  }
  return text;
}

namespace {

void DeviceFields(JsonWriter& json, const Device& device) {
  json.Text("id", device.id);
  json.Text("state", Name(device.state));
  json.Text("target", device.target);
  json.Text("model", device.model);
  json.Text("os", device.os);
  json.Integer("cores", device.cores);
  json.Integer("memory_bytes", device.memory_bytes);
  json.Text("job", device.job_id);
  json.Integer("last_seen_ns", absl::ToUnixNanos(device.last_seen));
  json.Text("agent_version", device.agent_version);
  json.Integer("min_abi", device.abis.lowest);
  json.Integer("max_abi", device.abis.highest);
  json.Integer("min_format", device.formats.lowest);
  json.Integer("max_format", device.formats.highest);
  json.Text("warning", device.warning);
  if (device.confinement.has_value()) {
    json.BeginArray("confinement_missing");
    for (const std::string& part : device.confinement->missing) json.Text("", part);
    json.EndArray();
  } else {
    json.Null("confinement_missing");
  }
  json.Bool("compiled_only", device.is_compiled_only);
  if (device.update.has_value()) UpdateJson(json, device);
  LabelsJson(json, device.labels);
  if (device.inventory.has_value()) InventoryJson(json, *device.inventory);
  if (!device.peaks.empty()) PeaksJson(json, device.peaks);
  AcceleratorPeaksJson(json, device.accelerator_peaks);
  if (device.lease.has_value()) LeaseJson(json, *device.lease);
  if (device.availability.has_value()) AvailabilityJson(json, *device.availability);
  if (device.health.has_value()) HealthJson(json, *device.health);
}

}  // namespace

std::string RenderDevicesJson(const std::vector<Device>& devices) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.BeginArray("devices");
  for (const Device& device : devices) {
    json.BeginObject();
    DeviceFields(json, device);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

std::string RenderAvailability(const Device& device) {
  if (!device.availability.has_value()) return "";
  const DeviceAvailability& availability = *device.availability;
  return absl::StrCat(Printable(device.id), " is ", Name(availability.state),
                      availability.reason.empty() ? "" : ": ", Printable(availability.reason),
                      "\n");
}

std::string RenderDeviceJson(const Device& device) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  DeviceFields(json, device);
  json.EndObject();
  return json.Take();
}

std::string RenderTargets(const std::vector<std::string>& targets, const std::string& host,
                          const std::vector<std::string>& server) {
  TextTable table({"TARGET", ""});
  for (const std::string& target : targets) {
    const bool compiled =
        server.empty() || std::find(server.begin(), server.end(), target) != server.end();
    table.Row({target, compiled ? "" : "not by this server"});
  }
  return absl::StrCat(table.Render(), "host is ", host, "\n");
}

std::string RenderTargetsJson(const std::vector<std::string>& targets, const std::string& host,
                              const std::vector<std::string>& server) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.BeginArray("targets");
  for (const std::string& target : targets) json.Text("", target);
  json.EndArray();
  json.Text("host", host);
  if (!server.empty()) {
    json.BeginArray("server_targets");
    for (const std::string& target : server) json.Text("", target);
    json.EndArray();
  }
  json.EndObject();
  return json.Take();
}

}  // namespace slipway::cli
