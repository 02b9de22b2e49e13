#include "core/base/machine_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr absl::Duration kLook = absl::Milliseconds(2);
constexpr char kSystemFolder[] = "/run/lock/slipway";

absl::StatusOr<UniqueFd> OpenLock(const std::string& name) {
  const std::string folder = MachineLockFolder();
  SLIPWAY_RETURN_IF_ERROR(MakeFolders(folder));
  const std::string path = JoinPath(folder, name);
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.is_open()) return ErrnoStatus(errno, absl::StrCat("cannot open lock '", path, "'"));
  return fd;
}

absl::Status Lock(int fd, int operation, absl::Duration deadline,
                  const std::function<bool()>& is_cancelled) {
  while (flock(fd, operation | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return ErrnoStatus(errno, "cannot lock");
    if (is_cancelled && is_cancelled()) return absl::CancelledError("no longer wanted");
    if (SystemClock().Monotonic() >= deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat("the machine was busy for too long with other work of Slipway (lock in '",
                       MachineLockFolder(), "')"));
    }
    absl::SleepFor(kLook);
  }
  return absl::OkStatus();
}

}  // namespace

std::string MachineLockFolder() {
  const char* const chosen = getenv("SLIPWAY_LOCK_DIR");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  if (access(kSystemFolder, W_OK) == 0) return kSystemFolder;
  return absl::StrCat("/tmp/slipway-lock-", getuid());
}

absl::StatusOr<MachineLock> MachineLock::Acquire(Mode mode, absl::Duration timeout,
                                                 const std::function<bool()>& is_cancelled) {
  const absl::Duration deadline = SystemClock().Monotonic() + timeout;
  SLIPWAY_ASSIGN_OR_RETURN(UniqueFd turn, OpenLock("machine.turn"));
  SLIPWAY_ASSIGN_OR_RETURN(UniqueFd machine, OpenLock("machine.lock"));
  // Without turns, compilations that overlap would keep a benchmark out for ever.
  SLIPWAY_RETURN_IF_ERROR(Lock(turn.get(), LOCK_EX, deadline, is_cancelled));
  const int operation = mode == Mode::kExclusive ? LOCK_EX : LOCK_SH;
  SLIPWAY_RETURN_IF_ERROR(Lock(machine.get(), operation, deadline, is_cancelled));
  return MachineLock(std::move(machine));
}

}  // namespace slipway
