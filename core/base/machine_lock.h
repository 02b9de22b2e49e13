// MachineLock: benchmarks have the machine to themselves.
//
// Processes of Slipway on one machine agree by two files in MachineLockFolder(): who compiles holds
// the lock shared, who measures holds it exclusively. It is a courtesy, not a guard: what else runs
// on the machine does not know of it, and results say when they were disturbed.
#ifndef SLIPWAY_CORE_BASE_MACHINE_LOCK_H_
#define SLIPWAY_CORE_BASE_MACHINE_LOCK_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/files.h"

namespace slipway {

// $SLIPWAY_LOCK_DIR, else /run/lock/slipway if the user may write there, else /tmp/slipway-lock-UID.
// A container that shall share it with the host mounts it.
std::string MachineLockFolder();

// Held until destruction or the process's end. Movable.
class MachineLock {
 public:
  enum class Mode { kShared, kExclusive };

  // Waits for its turn: who came first gets it first. DEADLINE_EXCEEDED after `timeout`; CANCELLED
  // soon after `is_cancelled`, unless empty, says so; errors of making the files.
  static absl::StatusOr<MachineLock> Acquire(Mode mode, absl::Duration timeout,
                                             const std::function<bool()>& is_cancelled = nullptr);

  MachineLock(MachineLock&&) noexcept = default;
  MachineLock& operator=(MachineLock&&) noexcept = default;

 private:
  explicit MachineLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_MACHINE_LOCK_H_
