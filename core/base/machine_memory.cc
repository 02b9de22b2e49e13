#include "core/base/machine_memory.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "core/base/files.h"

namespace slipway {
namespace {

constexpr int64_t kMaxTextBytes = 4 << 10;

}  // namespace

int64_t MachineMemoryBytes() {
  const int64_t all = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  const absl::StatusOr<std::string> text = ReadFile("/sys/fs/cgroup/memory.max", kMaxTextBytes);
  int64_t limit = 0;
  if (!text.ok() || !absl::SimpleAtoi(*text, &limit) || limit <= 0) return all;
  return std::min(all, limit);
}

int64_t OwnMemoryBytes() {
  const absl::StatusOr<std::string> text = ReadFile("/proc/self/statm", kMaxTextBytes);
  if (!text.ok()) return 0;
  // Pages: in all, resident, of these shared with files.
  const std::vector<absl::string_view> pages = absl::StrSplit(*text, ' ');
  int64_t resident = 0;
  int64_t shared = 0;
  if (pages.size() < 3 || !absl::SimpleAtoi(pages[1], &resident) ||
      !absl::SimpleAtoi(pages[2], &shared)) {
    return 0;
  }
  return (resident - shared) * sysconf(_SC_PAGE_SIZE);
}

}  // namespace slipway
