// A process that holds secrets: what others of its user cannot do to it.
#ifndef SLIPWAY_CORE_CONFINEMENT_GUARD_H_
#define SLIPWAY_CORE_CONFINEMENT_GUARD_H_

#include "absl/status/status.h"

namespace slipway {

// From now on no process without privileges can trace this one, or read its memory, environment or descriptors, and it leaves
// no core file; and neither it nor what it starts gains privileges by running a file. Of the capabilities it has, those over
// files, low ports and its children are left, to it and to what it starts: root is not more than that. The first is for this
// process alone: what it starts begins anew. Call early in main. INTERNAL when the kernel refuses. REQUIRES: the process has
// one thread.
absl::Status GuardProcess();

}  // namespace slipway

#endif  // SLIPWAY_CORE_CONFINEMENT_GUARD_H_
