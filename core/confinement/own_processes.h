// A process that nothing it has started outlives.
#ifndef SLIPWAY_CORE_CONFINEMENT_OWN_PROCESSES_H_
#define SLIPWAY_CORE_CONFINEMENT_OWN_PROCESSES_H_

#include "absl/status/status.h"

namespace slipway {

// In a process whose children get numbers of their own (CLONE_NEWPID), returns in a child of the calling process. That one
// waits for its end, and then ends as the child did, by its exit code or its signal; what the child has started and left behind
// is killed then, wherever it hid. When the calling process is killed, so are all of them. REQUIRES: the process has one thread
// and has started none.
absl::Status ContinueInOwnProcesses();

}  // namespace slipway

#endif  // SLIPWAY_CORE_CONFINEMENT_OWN_PROCESSES_H_
