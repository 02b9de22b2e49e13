// RunAttempt: one attempt from assignment to result.
#ifndef SLIPWAY_DEVICE_AGENT_ATTEMPT_H_
#define SLIPWAY_DEVICE_AGENT_ATTEMPT_H_

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "core/store/blob_store.h"
#include "device_agent/agent_transport.h"
#include "device_agent/kept_peaks.h"
#include "device_agent/pinned_blobs.h"
#include "device_agent/program_gate.h"
#include "device_agent/runner/runner_pool.h"
#include "proto/slipway/v1/agent.pb.h"

namespace slipway {

// What an attempt works with; none is owned, all are thread-safe.
struct AttemptTools {
  AgentTransport* transport = nullptr;
  // The agent's cache. Runners see it as a folder.
  BlobStore* cache = nullptr;
  RunnerPool* runners = nullptr;
  // Gets what the attempt works with, for as long as it does.
  PinnedBlobs* pinned = nullptr;
  // Null: every program is taken.
  ProgramGate* gate = nullptr;
  // The device, for results.
  std::string device_id;
  std::string device_target;
  const KeptPeaks* peaks = nullptr;  // Null: they are not known.
  // Memory a program may hold: of scratch, and in dynamic buffers where the job does not say.
  int64_t memory_bytes = 0;
};

// Told whenever the attempt comes to another state, or makes progress.
using AttemptObserver = std::function<void(const v1::RunAttemptState&)>;

// Does the work and returns how it ended: SUCCEEDED, FAILED, or STOPPED after `stop`, which ends it
// soon wherever it is.
v1::RunAttemptState RunAttempt(const v1::RunAssignment& assignment, const AttemptTools& tools,
                               const AttemptObserver& observer, std::stop_token stop);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ATTEMPT_H_
