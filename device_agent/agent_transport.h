// AgentTransport: all that an agent knows about the network.
#ifndef SLIPWAY_DEVICE_AGENT_AGENT_TRANSPORT_H_
#define SLIPWAY_DEVICE_AGENT_AGENT_TRANSPORT_H_

#include <memory>
#include <stop_token>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "core/store/blob_store.h"
#include "proto/slipway/v1/agent.pb.h"

namespace slipway {

// One call of Sync.
class SyncCall {
 public:
  virtual ~SyncCall() = default;
  // Call once. CANCELLED after Cancel; otherwise the statuses of agent.proto.
  virtual absl::StatusOr<v1::DesiredAgentState> Run(const v1::AgentState& state,
                                                    absl::Duration deadline) = 0;
  // Thread-safe; before, during or after Run.
  virtual void Cancel() = 0;
};

// Thread-safe.
class AgentTransport {
 public:
  virtual ~AgentTransport() = default;
  virtual std::unique_ptr<SyncCall> NewSync() = 0;
  // After a failure: waits `pause`, less if a lost connection comes back or `stop` is asked for.
  virtual void Pause(absl::Duration pause, std::stop_token stop) = 0;
  // Appends to `writer` from what it holds on. What arrived before a failure is kept there, so that
  // the next call resumes. UNAVAILABLE: try again; CANCELLED after `stop`.
  virtual absl::Status ReadBlob(const Digest& digest, BlobWriter& writer, std::stop_token stop) = 0;
  // Sends a blob, or what the server does not hold of it. Statuses as of ReadBlob.
  virtual absl::Status WriteBlob(const Digest& digest, const Blob& blob, std::stop_token stop) = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_AGENT_TRANSPORT_H_
