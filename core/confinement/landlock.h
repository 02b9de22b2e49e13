// Landlock: the kernel's limits on files and signals that a process lays on itself. Internal to confinement.cc.
#ifndef SLIPWAY_CORE_CONFINEMENT_LANDLOCK_H_
#define SLIPWAY_CORE_CONFINEMENT_LANDLOCK_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/confinement/path_rule.h"

namespace slipway {

// The version of Landlock that this kernel speaks; 0: none.
int LandlockVersion();

// The version from which on files are confined, for rules that allow writing and for others; and signals.
inline constexpr int kLandlockOfReading = 1;
inline constexpr int kLandlockOfWriting = 2;  // Before, no file could be moved to another folder.
inline constexpr int kLandlockOfSignals = 6;

// What to confine. With signals go abstract sockets.
struct LandlockScope {
  bool files = false;
  bool signals = false;
};

// Confines this thread, and all that it starts. TCP goes with files, from version 4 on. Errors of the system calls.
// REQUIRES: LandlockVersion() gives what `scope` wants.
absl::Status RestrictByLandlock(const LandlockScope& scope, absl::Span<const PathRule> paths);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CONFINEMENT_LANDLOCK_H_
