#include "device_agent/attached/machine_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/files.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kMark = "slipway-file ";
constexpr absl::string_view kProcessors = "/sys/devices/system/cpu/cpu";
constexpr size_t kMaxPathBytes = 200;
constexpr size_t kMaxLineBytes = 8192;
constexpr int kMaxFiles = 2000;
constexpr int kMaxProcessors = 1024;

// Of the files that are asked for, whatever somebody prints: no way out of the folder.
bool IsPath(absl::string_view path) {
  if (path.size() > kMaxPathBytes) return false;
  if (!absl::StartsWith(path, "/proc/") && !absl::StartsWith(path, "/sys/")) return false;
  for (const absl::string_view part : absl::StrSplit(path.substr(1), '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return std::all_of(path.begin(), path.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           absl::string_view("/._:-").find(c) != absl::string_view::npos;
  });
}

}  // namespace

const char* MachineFilesLine() {
  return "{ for f in /proc/sys/kernel/osrelease /sys/hypervisor/type"
         " /sys/class/power_supply/*/type /sys/class/power_supply/*/online"
         " /sys/class/power_supply/*/scope /sys/class/power_supply/*/status"
         " /sys/class/power_supply/*/capacity"
         " /sys/devices/system/cpu/cpu0/cache/index*/level"
         " /sys/devices/system/cpu/cpu0/cache/index*/type"
         " /sys/devices/system/cpu/cpu0/cache/index*/size"
         " /sys/devices/system/cpu/cpu0/cache/index*/shared_cpu_list"
         " /sys/devices/system/cpu/cpu[0-9]*/cpu_capacity"
         " /sys/devices/system/cpu/cpu[0-9]*/cpufreq/cpuinfo_max_freq;"
         " do l=; IFS= read -r l < \"$f\"; test -z \"$l\" || echo \"slipway-file $f=$l\"; done;"
         " for f in /proc/device-tree/name /proc/device-tree/hypervisor;"
         " do test ! -e \"$f\" || echo \"slipway-file $f=\"; done;"
         " while IFS= read -r l; do case \"$l\" in flags*) echo \"slipway-file /proc/cpuinfo=$l\";"
         " break;; esac; done < /proc/cpuinfo; } 2> /dev/null; exit 0";
}

void WriteMachineFiles(absl::string_view printed, const std::string& folder) {
  int files = 0;
  for (absl::string_view line : absl::StrSplit(printed, '\n')) {
    line = absl::StripSuffix(line, "\r");
    if (line.size() > kMaxLineBytes || !absl::ConsumePrefix(&line, kMark)) continue;
    const size_t equals = line.find('=');
    if (equals == absl::string_view::npos || !IsPath(line.substr(0, equals))) continue;
    if (++files > kMaxFiles) return;
    const fs::path path = absl::StrCat(folder, line.substr(0, equals));
    // One that is said to be a folder as well is left out.
    if (!MakeFolders(path.parent_path().string()).ok()) continue;
    WriteFileAtomically(path.string(), absl::StrCat(line.substr(equals + 1), "\n"),
                        /*durable=*/false)
        .IgnoreError();
  }
}

std::vector<int> ProcessorsOf(const std::string& folder) {
  std::vector<int> processors;
  std::error_code error;
  for (int i = 0; i < kMaxProcessors; ++i) {
    if (fs::exists(absl::StrCat(folder, kProcessors, i), error)) processors.push_back(i);
  }
  return processors;
}

}  // namespace slipway
