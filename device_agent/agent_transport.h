// AgentTransport: all that an agent knows about the network.
#ifndef SLIPWAY_DEVICE_AGENT_AGENT_TRANSPORT_H_
#define SLIPWAY_DEVICE_AGENT_AGENT_TRANSPORT_H_

#include <memory>
#include <stop_token>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/digest.h"
#include "core/rpc/retry.h"
#include "core/store/blob_store.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/session.pb.h"
#include "proto/slipway/v1/statement.pb.h"

namespace slipway {

class SessionEntrance;

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

// One call of Attach: a session's connection through the server.
class AttachCall {
 public:
  virtual ~AttachCall() = default;
  // Waits for its end.
  virtual absl::Status Wait() = 0;
  // Thread-safe; ends it soon, though its last words may be lost where nobody reads them.
  virtual void Cancel() = 0;
};

// Thread-safe.
class AgentTransport {
 public:
  virtual ~AgentTransport() = default;
  // Where something is at stake (IsAtStake), it is noticed soon if the connection leads nowhere any more; always so for Attach.
  virtual std::unique_ptr<SyncCall> NewSync(bool is_at_stake) = 0;
  // Begins a call of Attach. What comes goes to `entrance`, which outlives the call.
  virtual std::unique_ptr<AttachCall> Attach(const v1::SessionLease& lease,
                                             SessionEntrance* entrance) = 0;
  // Waits without trying to connect, less if `stop` is asked for.
  virtual void StayAway(absl::Duration time, std::stop_token stop) = 0;
  // After a failure: waits `pause`, less if a lost connection comes back or `stop` is asked for.
  virtual void Pause(absl::Duration pause, std::stop_token stop) = 0;
  // What the server says of a program that the client of a session wants to load; as long as `policy` allows. Statuses as of
  // AgentService.Vouch; UNIMPLEMENTED from servers that are too old.
  virtual absl::StatusOr<v1::SignedStatement> Vouch(const v1::VouchRequest& request,
                                                    const RetryPolicy& policy) = 0;
  // Bring a blob into `store`, unless it is there, and send one of `store`; resuming, as long as `policy`
  // allows. Statuses as of BlobClient.
  virtual absl::Status FetchBlob(const Digest& digest, BlobStore& store,
                                 const RetryPolicy& policy) = 0;
  virtual absl::Status SendBlob(const Digest& digest, BlobStore& store,
                                const RetryPolicy& policy) = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_AGENT_TRANSPORT_H_
