#include "server/parent.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/lifeline.h"

namespace slipway::server {

absl::Status TellReady(int fd, absl::string_view address) {
  const std::string line = absl::StrCat(address, "\n");
  const ssize_t written = write(fd, line.data(), line.size());
  close(fd);
  if (written == static_cast<ssize_t>(line.size())) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("cannot write to --ready-fd ", fd));
}

absl::Status EndWithParent() {
  if (std::getenv(kLifelineVariable) != nullptr) return FollowParent();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  // It may have ended before the line above.
  if (getppid() == 1)
    return absl::FailedPreconditionError("--exit-with-parent: the parent has ended");
  return absl::OkStatus();
}

}  // namespace slipway::server
