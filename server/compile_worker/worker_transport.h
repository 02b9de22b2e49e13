// WorkerTransport: all that a worker knows of the network.
#ifndef SLIPWAY_SERVER_COMPILE_WORKER_WORKER_TRANSPORT_H_
#define SLIPWAY_SERVER_COMPILE_WORKER_WORKER_TRANSPORT_H_

#include <stop_token>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/digest.h"
#include "core/rpc/retry.h"
#include "core/store/blob_store.h"
#include "proto/slipway/v1/worker.pb.h"

namespace slipway::worker {

// Thread-safe.
class WorkerTransport {
 public:
  virtual ~WorkerTransport() = default;

  // Reports, and waits for what is wanted. CANCELLED after Interrupt; other statuses of WorkerService.Sync.
  // One call at a time.
  virtual absl::StatusOr<v1::DesiredWorkerState> Sync(const v1::WorkerState& state) = 0;
  // Ends the Sync that is under way, or the next one.
  virtual void Interrupt() = 0;
  // After a Sync that failed: waits, less once there is a connection where there was none or `stop` is asked for.
  virtual void Pause(absl::Duration pause, std::stop_token stop) = 0;

  // Bring a blob into `store`, unless it is there, and send those of `digests` that the server lacks;
  // resuming, as long as `policy` allows. Statuses as of BlobClient.
  virtual absl::Status Fetch(const Digest& digest, BlobStore& store, const RetryPolicy& policy) = 0;
  virtual absl::Status Send(absl::Span<const Digest> digests, BlobStore& store,
                            const RetryPolicy& policy) = 0;
};

}  // namespace slipway::worker

#endif  // SLIPWAY_SERVER_COMPILE_WORKER_WORKER_TRANSPORT_H_
