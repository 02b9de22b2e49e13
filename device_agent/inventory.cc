#include "device_agent/inventory.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/files.h"
#include "core/base/utf8.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using v1::DeviceInventory;

constexpr int64_t kMaxFileBytes = 1 << 20;
constexpr size_t kMaxTextBytes = 255;
constexpr size_t kMaxEntries = 256;      // Of a folder of /sys.
constexpr size_t kMaxAccelerators = 16;  // As the protocol has it.
// One that the system knows by its vendor's numbers alone.
constexpr absl::string_view kUnnamed = "PCI ";
constexpr int kFullCapacity = 1024;  // As Linux has it.
constexpr int kSixteenths = 16;

// Nothing when it cannot be read.
std::string ReadText(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxFileBytes);
  return text.ok() ? std::string(absl::StripAsciiWhitespace(*text)) : "";
}

std::optional<int64_t> ReadNumber(const std::string& path) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(ReadText(path), &number)) return std::nullopt;
  return number;
}

// As the protocol takes it, whatever a driver has written.
std::string Text(absl::string_view text) {
  return std::string(Utf8Prefix(ToUtf8(text), kMaxTextBytes));
}

// Sorted, so that what is made of them is the same each time.
std::vector<std::string> Entries(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (paths.size() == kMaxEntries) break;
    paths.push_back(it->path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

struct Core {
  int64_t capacity = 0;
  int64_t frequency_hz = 0;
};

bool IsOneKind(const Core& faster, const Core& slower, bool by_frequency) {
  if (!by_frequency) return faster.capacity == slower.capacity;
  return slower.capacity * 100 > faster.capacity * 85;
}

void AddCores(const std::string& root, absl::Span<const int> cpus, DeviceInventory& inventory) {
  std::vector<Core> cores;
  int64_t highest_hz = 0;
  bool by_frequency = false;
  for (const int cpu : cpus) {
    const std::string folder = absl::StrCat(root, "/sys/devices/system/cpu/cpu", cpu);
    Core core;
    core.capacity = std::max<int64_t>(0, ReadNumber(folder + "/cpu_capacity").value_or(0));
    const int64_t khz = ReadNumber(folder + "/cpufreq/cpuinfo_max_freq").value_or(0);
    core.frequency_hz = std::clamp<int64_t>(khz, 0, INT64_MAX / 1'000'000) * 1'000;
    by_frequency = by_frequency || core.capacity == 0;
    highest_hz = std::max(highest_hz, core.frequency_hz);
    cores.push_back(core);
  }
  if (by_frequency) {
    if (highest_hz == 0) return;
    for (Core& core : cores) {
      const double share = static_cast<double>(core.frequency_hz) / static_cast<double>(highest_hz);
      core.capacity = static_cast<int64_t>(share * kFullCapacity);
    }
  }
  std::stable_sort(cores.begin(), cores.end(),
                   [](const Core& a, const Core& b) { return a.capacity > b.capacity; });
  const Core* fastest = nullptr;  // Of the last kind.
  for (const Core& core : cores) {
    if (fastest == nullptr || !IsOneKind(*fastest, core, by_frequency)) {
      fastest = &core;
      DeviceInventory::CoreKind& kind = *inventory.add_core_kinds();
      kind.set_capacity(static_cast<int32_t>(std::min<int64_t>(core.capacity, kFullCapacity)));
    }
    DeviceInventory::CoreKind& kind =
        *inventory.mutable_core_kinds(inventory.core_kinds_size() - 1);
    kind.set_cores(kind.cores() + 1);
    kind.set_max_frequency_hz(std::max<int64_t>(kind.max_frequency_hz(), core.frequency_hz));
  }
}

void AddPower(const std::string& root, DeviceInventory& inventory) {
  bool has_mains = false;
  bool is_discharging = false;
  std::optional<int64_t> charge;
  for (const std::string& supply : Entries(root + "/sys/class/power_supply")) {
    const std::string type = ReadText(supply + "/type");
    if (type != "Battery") {
      has_mains = has_mains || ReadNumber(supply + "/online").value_or(0) > 0;
      continue;
    }
    // Of a mouse, say.
    if (ReadText(supply + "/scope") == "Device") continue;
    const std::string status = ReadText(supply + "/status");
    is_discharging = is_discharging || status == "Discharging";
    has_mains = has_mains || status == "Charging" || status == "Full" || status == "Not charging";
    if (const auto percent = ReadNumber(supply + "/capacity"); percent.has_value()) {
      charge = std::min(charge.value_or(100), std::clamp<int64_t>(*percent, 0, 100));
    }
  }
  if (is_discharging) {
    inventory.set_power(DeviceInventory::BATTERY);
  } else if (has_mains) {
    inventory.set_power(DeviceInventory::MAINS);
  }
  if (charge.has_value()) inventory.set_charge_percent(static_cast<int32_t>(*charge / 10 * 10));
}

// The value of the first line "KEY : VALUE"; nothing when there is none.
std::optional<std::string> FindLine(absl::string_view text, absl::string_view key) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (parts.size() == 2 && absl::StripAsciiWhitespace(parts[0]) == key) {
      return std::string(absl::StripAsciiWhitespace(parts[1]));
    }
  }
  return std::nullopt;
}

DeviceInventory::Machine FindMachine(const std::string& root) {
  std::error_code error;
  if (!ReadText(root + "/sys/hypervisor/type").empty()) return DeviceInventory::VIRTUAL;
  const std::string tree = root + "/proc/device-tree";
  if (fs::exists(tree + "/hypervisor", error)) return DeviceInventory::VIRTUAL;
  // x86 has the bit of a hypervisor among its flags; others have none for it.
  if (const auto flags = FindLine(ReadText(root + "/proc/cpuinfo"), "flags"); flags.has_value()) {
    const std::vector<absl::string_view> words = absl::StrSplit(*flags, ' ');
    const bool has_bit = std::find(words.begin(), words.end(), "hypervisor") != words.end();
    return has_bit ? DeviceInventory::VIRTUAL : DeviceInventory::PHYSICAL;
  }
  return fs::exists(tree, error) ? DeviceInventory::PHYSICAL : DeviceInventory::MACHINE_UNSPECIFIED;
}

// "0x10de" as "10de".
std::string PciNumber(const std::string& path) {
  return std::string(absl::StripPrefix(ReadText(path), "0x"));
}

void AddAccelerators(const std::string& root, DeviceInventory& inventory) {
  std::vector<std::string> found;
  for (const std::string& gpu : Entries(root + "/proc/driver/nvidia/gpus")) {
    const auto model = FindLine(ReadText(gpu + "/information"), "Model");
    if (model.has_value() && !model->empty()) found.push_back(*model);
  }
  const bool has_nvidia = !found.empty();
  for (const std::string& device : Entries(root + "/sys/bus/pci/devices")) {
    // Classes of PCI: 3D controllers, and processing accelerators. Displays may be drawn by anything.
    const std::string kind = ReadText(device + "/class");
    if (!absl::StartsWith(kind, "0x0302") && !absl::StartsWith(kind, "0x12")) continue;
    const std::string vendor = PciNumber(device + "/vendor");
    if (has_nvidia && vendor == "10de") continue;
    found.push_back(absl::StrCat(kUnnamed, vendor, ":", PciNumber(device + "/device")));
  }
  for (size_t i = 0; i < std::min(found.size(), kMaxAccelerators); ++i) {
    inventory.add_accelerators(Text(found[i]));
  }
}

}  // namespace

void NameGpus(absl::Span<const std::string> gpus, v1::DeviceInventory& inventory) {
  if (gpus.empty()) return;
  std::vector<std::string> all;
  for (const std::string& gpu : gpus) all.push_back(Text(gpu));
  for (const std::string& known : inventory.accelerators()) {
    if (absl::StartsWith(known, kUnnamed)) all.push_back(known);
  }
  all.resize(std::min(all.size(), kMaxAccelerators));
  inventory.mutable_accelerators()->Assign(all.begin(), all.end());
}

v1::DeviceInventory ReadInventory(const std::string& root, absl::Span<const int> cpus) {
  DeviceInventory inventory;
  AddCores(root, cpus, inventory);
  inventory.set_kernel(Text(ReadText(root + "/proc/sys/kernel/osrelease")));
  AddPower(root, inventory);
  inventory.set_machine(FindMachine(root));
  AddAccelerators(root, inventory);
  return inventory;
}

std::string ReadModel(const std::string& root) {
  if (auto name = FindLine(ReadText(root + "/proc/cpuinfo"), "model name");
      name.has_value() && !name->empty()) {
    return Text(*name);
  }
  // Strings of a device tree end with a zero.
  for (const char* file : {"/proc/device-tree/model", "/sys/class/dmi/id/product_name"}) {
    const std::string text = ReadText(root + file);
    const absl::string_view whole = text;
    const absl::string_view name = absl::StripAsciiWhitespace(whole.substr(0, whole.find('\0')));
    if (!name.empty()) return Text(name);
  }
  return "";
}

int64_t RoundedFree(int64_t total_bytes, int64_t free_bytes) {
  const int64_t step = std::max<int64_t>(1, total_bytes / kSixteenths);
  return std::clamp<int64_t>(free_bytes, 0, total_bytes) / step * step;
}

void AddStorage(const std::string& folder, v1::DeviceInventory& inventory) {
  struct statvfs storage;
  if (statvfs(folder.c_str(), &storage) != 0) return;
  // Blocks of which the agent, who is no superuser, may have some.
  const auto block = static_cast<int64_t>(storage.f_frsize);
  const int64_t total = static_cast<int64_t>(storage.f_blocks) * block;
  inventory.set_storage_bytes(total);
  inventory.set_storage_free_bytes(
      RoundedFree(total, static_cast<int64_t>(storage.f_bavail) * block));
}

}  // namespace slipway
