// GrpcWorkerTransport: a worker's connection to its server.
#ifndef SLIPWAY_SERVER_COMPILE_WORKER_GRPC_WORKER_TRANSPORT_H_
#define SLIPWAY_SERVER_COMPILE_WORKER_GRPC_WORKER_TRANSPORT_H_

#include <memory>
#include <stop_token>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/rpc/grpc_blob_client.h"
#include "core/rpc/grpc_calls.h"
#include "proto/slipway/v1/worker.grpc.pb.h"
#include "server/compile_worker/worker_transport.h"

namespace slipway::worker {

class GrpcWorkerTransport final : public WorkerTransport {
 public:
  // As for Calls.
  GrpcWorkerTransport(std::string address, CallerProof proof);

  absl::StatusOr<v1::DesiredWorkerState> Sync(const v1::WorkerState& state) override;
  void Interrupt() override;
  void Pause(absl::Duration pause, std::stop_token stop) override;
  absl::Status Fetch(const Digest& digest, BlobStore& store, const RetryPolicy& policy) override;
  absl::Status Send(absl::Span<const Digest> digests, BlobStore& store,
                    const RetryPolicy& policy) override;

 private:
  Calls calls_;
  const std::unique_ptr<v1::WorkerService::StubInterface> workers_;
  BlobClient blobs_;

  absl::Mutex mutex_;
  std::stop_source interrupt_ ABSL_GUARDED_BY(mutex_);  // Of the Sync under way, or the next.
};

}  // namespace slipway::worker

#endif  // SLIPWAY_SERVER_COMPILE_WORKER_GRPC_WORKER_TRANSPORT_H_
