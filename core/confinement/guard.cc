#include "core/confinement/guard.h"

#include <errno.h>
#include <sys/prctl.h>

#include "core/base/files.h"

namespace slipway {

absl::Status GuardProcess() {
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return ErrnoStatus(errno, "cannot keep others out of this process");
  }
  return absl::OkStatus();
}

}  // namespace slipway
