#include "core/confinement/guard.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

// What is left to a process that has them.
constexpr int kKept[] = {
    // Its folders and blobs may be another user's, as where a container has them from outside.
    CAP_CHOWN,
    CAP_DAC_OVERRIDE,
    CAP_DAC_READ_SEARCH,
    CAP_FOWNER,
    CAP_FSETID,
    // A port below 1024.
    CAP_NET_BIND_SERVICE,
    // To end its children, and to have runners be somebody whom limits bind (confinement.cc).
    CAP_KILL,
    CAP_SETUID,
    // To keep root's number in a namespace, where a compiler's child is who it was.
    CAP_SETFCAP,
};

absl::Status DropCapabilities() {
  uint64_t kept = 0;
  for (const int capability : kKept) kept |= uint64_t{1} << capability;
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct sets[2] = {};
  if (syscall(SYS_capget, &header, sets) != 0)
    return ErrnoStatus(errno, "cannot read capabilities");
  for (int half = 0; half < 2; ++half) {
    const auto mask = static_cast<uint32_t>(kept >> (32 * half));
    sets[half].permitted &= mask;
    sets[half].effective &= mask;
    sets[half].inheritable = 0;
  }
  if (syscall(SYS_capset, &header, sets) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "cannot drop capabilities");
}

}  // namespace

absl::Status GuardProcess() {
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return ErrnoStatus(errno, "cannot keep others out of this process");
  }
  return DropCapabilities();
}

}  // namespace slipway
