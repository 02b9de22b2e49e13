// WorkerTransport: all that a worker knows of the network.
#ifndef SLIPWAY_SERVER_COMPILE_WORKER_WORKER_TRANSPORT_H_
#define SLIPWAY_SERVER_COMPILE_WORKER_WORKER_TRANSPORT_H_

#include <stop_token>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/digest.h"
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

  // Brings a blob into `store`, if it is not there. The statuses of BlobService.Read; errors of the store.
  virtual absl::Status Fetch(const Digest& digest, BlobStore& store) = 0;
  // Sends those of `digests` that the server lacks. The statuses of BlobService.Write; errors of the store.
  virtual absl::Status Send(absl::Span<const Digest> digests, BlobStore& store) = 0;
};

}  // namespace slipway::worker

#endif  // SLIPWAY_SERVER_COMPILE_WORKER_WORKER_TRANSPORT_H_
