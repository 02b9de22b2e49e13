// GrpcWorkerTransport: a worker's connection to its server.
#ifndef SLIPWAY_SERVER_COMPILE_WORKER_GRPC_WORKER_TRANSPORT_H_
#define SLIPWAY_SERVER_COMPILE_WORKER_GRPC_WORKER_TRANSPORT_H_

#include <memory>
#include <stop_token>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/rpc/caller_proof.h"
#include "core/rpc/proof_files.h"
#include "server/compile_worker/worker_transport.h"

namespace slipway::worker {

class GrpcWorkerTransport final : public WorkerTransport {
 public:
  // As for Calls. Files of the proof that are replaced are taken with the next call of Sync.
  GrpcWorkerTransport(std::string address, CallerProof proof);

  absl::StatusOr<v1::DesiredWorkerState> Sync(const v1::WorkerState& state) override;
  void Interrupt() override;
  void Pause(absl::Duration pause, std::stop_token stop) override;
  absl::Status Fetch(const Digest& digest, BlobStore& store, const RetryPolicy& policy) override;
  absl::Status Send(absl::Span<const Digest> digests, BlobStore& store,
                    const RetryPolicy& policy) override;

 private:
  struct Line;

  std::shared_ptr<Line> CurrentLine();

  const std::string address_;
  const CallerProof proof_;
  absl::Mutex mutex_;
  ProofFiles files_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Line> line_ ABSL_GUARDED_BY(mutex_);
  std::stop_source interrupt_ ABSL_GUARDED_BY(mutex_);  // Of the Sync under way, or the next.
};

}  // namespace slipway::worker

#endif  // SLIPWAY_SERVER_COMPILE_WORKER_GRPC_WORKER_TRANSPORT_H_
