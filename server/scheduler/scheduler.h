// The scheduler: which waiting job a free device or worker gets. Pure.
//
// First come, first served: candidates arrive in the order of acceptance, and the first that fits is taken.
#ifndef SLIPWAY_SERVER_SCHEDULER_SCHEDULER_H_
#define SLIPWAY_SERVER_SCHEDULER_SCHEDULER_H_

#include <string>

#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "server/devices/can_run.h"
#include "server/workers/target_fingerprints.h"

namespace slipway::server {

// A device that could take work.
struct DeviceSnapshot {
  std::string id;
  const DeviceOffer* offer = nullptr;
  bool present = false;  // Its agent is there.
  int attempts = 0;      // It has or works on; it takes one at a time.
};

// A run or benchmark that waits.
struct RunCandidate {
  std::string job_id;
  std::string device;  // Empty: any.
  const ProgramNeeds* program = nullptr;
  absl::Time not_before;
};

// The id of the job `device` gets, if any. REQUIRES: candidates in order of acceptance.
absl::optional<std::string> PickAssignment(const DeviceSnapshot& device,
                                           absl::Span<const RunCandidate> candidates,
                                           absl::Time now);

// A worker that could take work.
struct WorkerSnapshot {
  const TargetFingerprints* targets = nullptr;
  bool present = false;
  int attempts = 0;
  int capacity = 0;
};

// A compilation that waits.
struct CompileCandidate {
  std::string job_id;
  std::string family;       // Of its target.
  std::string fingerprint;  // Of the compiler it needs.
  absl::Time not_before;
};

// The id of the job `worker` gets, if any. REQUIRES: candidates in order of acceptance.
absl::optional<std::string> PickCompilation(const WorkerSnapshot& worker,
                                            absl::Span<const CompileCandidate> candidates,
                                            absl::Time now);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SCHEDULER_SCHEDULER_H_
