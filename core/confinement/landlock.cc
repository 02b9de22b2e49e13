#include "core/confinement/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

// Of linux/landlock.h, which in Debian 12 ends at version 2.
struct RulesetAttributes {
  uint64_t handled_files;
  uint64_t handled_network;
  uint64_t scoped;
};
struct __attribute__((packed)) PathAttributes {
  uint64_t allowed;
  int32_t parent_fd;
};
constexpr uint32_t kAskVersion = 1;
constexpr int kPathBeneath = 1;

constexpr uint64_t kExecute = 1 << 0;
constexpr uint64_t kWriteFile = 1 << 1;
constexpr uint64_t kReadFile = 1 << 2;
constexpr uint64_t kReadFolder = 1 << 3;
constexpr uint64_t kRemoveFolder = 1 << 4;
constexpr uint64_t kRemoveFile = 1 << 5;
constexpr uint64_t kMakeFolder = 1 << 7;
constexpr uint64_t kMakeFile = 1 << 8;
constexpr uint64_t kMakeLink = 1 << 12;
constexpr uint64_t kMove = 1 << 13;
constexpr uint64_t kTruncate = 1 << 14;
constexpr uint64_t kDeviceControl = 1 << 15;
constexpr uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kDeviceControl;

constexpr uint64_t kTcp = 0b11;             // Listen, connect.
constexpr uint64_t kSocketsSignals = 0b11;  // Abstract sockets, signals.

// All rights that a version knows, so that whatever no rule allows is forbidden.
uint64_t AllRights(int version) {
  uint64_t rights = (1 << 13) - 1;
  if (version >= 2) rights |= kMove;
  if (version >= 3) rights |= kTruncate;
  if (version >= 5) rights |= kDeviceControl;
  return rights;
}

uint64_t RightsOf(PathAccess access) {
  switch (access) {
    case PathAccess::kReadFiles:
      return kReadFile;
    case PathAccess::kRead:
      return kReadFile | kReadFolder;
    case PathAccess::kRun:
      return kReadFile | kReadFolder | kExecute;
    case PathAccess::kWrite:
      return kReadFile | kReadFolder | kWriteFile | kTruncate | kRemoveFolder | kRemoveFile |
             kMakeFolder | kMakeFile | kMakeLink | kMove;
    case PathAccess::kDevice:
      return kReadFile | kReadFolder | kWriteFile | kDeviceControl;
  }
  return 0;
}

absl::Status AddPath(int ruleset, uint64_t all, const PathRule& rule) {
  const UniqueFd path(open(rule.path.c_str(), O_PATH | O_CLOEXEC));
  const std::string what =
      absl::StrCat("cannot leave \"", absl::Utf8SafeCEscape(rule.path), "\" to a process");
  if (!path.is_open()) {
    return errno == ENOENT || errno == ENOTDIR ? absl::OkStatus() : ErrnoStatus(errno, what);
  }
  struct stat info;
  if (fstat(path.get(), &info) != 0) return ErrnoStatus(errno, what);
  PathAttributes attributes = {.allowed = RightsOf(rule.access) & all, .parent_fd = path.get()};
  if (!S_ISDIR(info.st_mode)) attributes.allowed &= kOfFiles;
  if (syscall(SYS_landlock_add_rule, ruleset, kPathBeneath, &attributes, 0) != 0) {
    return ErrnoStatus(errno, what);
  }
  return absl::OkStatus();
}

}  // namespace

int LandlockVersion() {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, kAskVersion);
  return version < 0 ? 0 : static_cast<int>(version);
}

absl::Status RestrictByLandlock(const LandlockScope& scope, absl::Span<const PathRule> paths) {
  const int version = LandlockVersion();
  RulesetAttributes attributes = {};
  size_t size = sizeof(attributes.handled_files);
  if (scope.files) attributes.handled_files = AllRights(version);
  if (scope.files && version >= 4) {
    attributes.handled_network = kTcp;
    size = 2 * sizeof(uint64_t);
  }
  if (scope.signals) {
    attributes.scoped = kSocketsSignals;
    size = sizeof(attributes);
  }
  const UniqueFd ruleset(
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
  if (!ruleset.is_open()) return ErrnoStatus(errno, "cannot make rules of Landlock");
  if (scope.files) {
    for (const PathRule& path : paths) {
      SLIPWAY_RETURN_IF_ERROR(AddPath(ruleset.get(), attributes.handled_files, path));
    }
  }
  if (syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) {
    return ErrnoStatus(errno, "cannot take on rules of Landlock");
  }
  return absl::OkStatus();
}

}  // namespace slipway
