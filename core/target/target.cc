#include "core/target/target.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/target/features.h"
#include "core/target/names.h"

namespace slipway {
namespace {

// What `program` needs and `device` lacks, or empty. REQUIRES: the same architecture.
std::vector<std::string> MissingFeatures(const DeviceTarget& program, const DeviceTarget& device) {
  std::vector<std::string> missing;
  for (const std::string& feature : program.features) {
    if (!device.Has(feature)) missing.push_back(feature);
  }
  return missing;
}

absl::Status CheckHostRunsOn(const DeviceTarget& program, const DeviceTarget& device) {
  if (program.arch != device.arch || program.os != device.os) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the program is for '", program.ToString(), "', the device is '", device.ToString(), "'"));
  }
  const std::vector<std::string> missing = MissingFeatures(program, device);
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the program for '", program.ToString(), "' needs the feature",
                   missing.size() == 1 ? "" : "s", " '", absl::StrJoin(missing, "', '"),
                   "', which the device '", device.ToString(), "' lacks"));
}

// The GPUs of a target: those that are content with one level alone, then the others, highest level first.
std::vector<DeviceTarget> GpusOf(const Target& target) {
  std::vector<DeviceTarget> gpus;
  if (!target.devices.empty()) gpus.assign(target.devices.begin() + 1, target.devices.end());
  std::stable_sort(gpus.begin(), gpus.end(), [](const DeviceTarget& a, const DeviceTarget& b) {
    return std::pair(a.is_specific, a.level) > std::pair(b.is_specific, b.level);
  });
  return gpus;
}

}  // namespace

bool DeviceTarget::Has(absl::string_view feature) const {
  // Not a binary search: Canonicalize asks before the features are sorted.
  return std::find(features.begin(), features.end(), feature) != features.end();
}

std::string DeviceTarget::ToString() const {
  std::string text(ArchName(arch));
  if (arch == Arch::kCuda) return absl::StrCat(text, "-sm", level, is_specific ? "a" : "");
  if (arch == Arch::kX86_64 && level > 1) absl::StrAppend(&text, "-v", level);
  if (os != Os::kNone) absl::StrAppend(&text, "-", OsName(os));
  for (const Feature& feature : FeaturesOf(arch)) {
    const bool is_implied = feature.level > 0 && feature.level <= level;
    if (!is_implied && Has(feature.name)) absl::StrAppend(&text, "-", feature.name);
  }
  return text;
}

std::string Target::ToString() const {
  return absl::StrJoin(devices, ",", [](std::string* out, const DeviceTarget& device) {
    out->append(device.ToString());
  });
}

int64_t AddressableBytes(const DeviceTarget& device) {
  const bool has_32_bits = device.arch == Arch::kArm32 || device.arch == Arch::kWasm32;
  return has_32_bits ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max();
}

Target WithoutPermissions(Target target) {
  for (DeviceTarget& device : target.devices) {
    for (const char* feature : {"amxbf16", "amxint8"}) std::erase(device.features, feature);
  }
  return target;
}

std::string FamilyOf(const Target& target) {
  std::set<std::string> gpus;
  for (size_t i = 1; i < target.devices.size(); ++i) {
    gpus.emplace(ArchName(target.devices[i].arch));
  }
  std::string family = absl::StrCat(ArchName(target.host().arch), "-", OsName(target.host().os));
  for (const std::string& gpu : gpus) absl::StrAppend(&family, ",", gpu);
  return family;
}

bool RunsOnCapability(const DeviceTarget& code, int capability) {
  return code.is_specific ? code.level == capability : code.level <= capability;
}

absl::Status CheckRunsOn(const Target& program, const Target& device) {
  if (program.devices.empty() || device.devices.empty()) {
    return absl::FailedPreconditionError("the program or the device has no target");
  }
  absl::Status host = CheckHostRunsOn(program.host(), device.host());
  if (!host.ok()) return host;
  std::vector<DeviceTarget> available = GpusOf(device);
  // Most demanding first, each on the best that is left: if this fails, every assignment does.
  for (const DeviceTarget& needed : GpusOf(program)) {
    const auto found =
        std::find_if(available.begin(), available.end(), [&needed](const DeviceTarget& gpu) {
          return gpu.arch == needed.arch && RunsOnCapability(needed, gpu.level);
        });
    if (found == available.end()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the program for '", program.ToString(), "' needs a '", needed.ToString(),
                       "', which the device '", device.ToString(), "' lacks"));
    }
    available.erase(found);
  }
  return absl::OkStatus();
}

}  // namespace slipway
