// Starts a process with exactly the descriptors and the environment it shall have. Internal to
// subprocess.cc.
#ifndef SLIPWAY_CORE_BASE_SPAWN_H_
#define SLIPWAY_CORE_BASE_SPAWN_H_

#include <sys/types.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/subprocess.h"

namespace slipway {

// `output_fd` is where Tail streams write, `lifeline_fd` the child's end of its lifeline; both -1
// when there is none. Errors of Subprocess::Start.
absl::StatusOr<pid_t> Spawn(const SubprocessOptions& options, int output_fd, int lifeline_fd);

// Applies `limits` to the process. Errors of prlimit(2).
absl::Status SetLimits(pid_t pid, const ResourceLimits& limits);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_SPAWN_H_
