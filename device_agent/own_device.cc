#include "device_agent/own_device.h"

#include <sys/utsname.h>

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/files.h"
#include "core/base/machine_memory.h"
#include "core/base/processors/usable_processors.h"
#include "core/base/status_macros.h"
#include "core/confinement/confinement.h"
#include "core/confinement/profiles.h"
#include "core/store/file_names.h"
#include "core/target/target.h"
#include "device_agent/inventory.h"

namespace slipway {
namespace {

constexpr int64_t kMaxTextBytes = 1 << 20;

// The value of the first line `key`=value of a file; empty when there is none.
std::string FindValue(const std::string& path, absl::string_view key) {
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxTextBytes);
  if (!text.ok()) return "";
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits('=', 1));
    if (parts.size() == 2 && absl::StripAsciiWhitespace(parts[0]) == key) {
      absl::string_view value = absl::StripAsciiWhitespace(parts[1]);
      absl::ConsumePrefix(&value, "\"");
      absl::ConsumeSuffix(&value, "\"");
      return absl::Utf8SafeCEscape(value);
    }
  }
  return "";
}

}  // namespace

absl::StatusOr<v1::DeviceDescription> DescribeThisMachine(const std::string& cache_folder,
                                                          const std::string& accelerator_folder,
                                                          bool require_confinement) {
  const std::string blobs = BlobsFolder(cache_folder);
  SLIPWAY_ASSIGN_OR_RETURN_WITH(
      const MissingParts missing,
      ProbeConfinement(accelerator_folder.empty()
                           ? RunnerConfinement(blobs)
                           : AcceleratorConfinement(blobs, accelerator_folder)),
      "confining programs");
  if (require_confinement) {
    SLIPWAY_RETURN_IF_ERROR(RequireWhole("a program on this device", missing));
  }
  v1::DeviceDescription device;
  device.set_target(HostTarget().ToString());
  device.set_model(ReadModel(/*root=*/""));
  device.set_cores(static_cast<int>(UsableProcessors().size()));
  device.set_memory_bytes(MachineMemoryBytes());
  utsname system;
  uname(&system);
  device.set_os(absl::StrCat(FindValue("/etc/os-release", "PRETTY_NAME"), ", ", system.sysname, " ",
                             system.release));
  device.mutable_confinement();
  for (const MissingPart& part : missing) {
    device.mutable_confinement()->add_missing(ToString({&part, 1}));
  }
  *device.mutable_inventory() = TakeInventory(cache_folder);
  return device;
}

v1::DeviceInventory TakeInventory(const std::string& cache_folder) {
  v1::DeviceInventory inventory = ReadInventory(/*root=*/"", UsableProcessors());
  AddStorage(cache_folder, inventory);
  return inventory;
}

}  // namespace slipway
