// GrpcWorkerTransport: a worker's connection to its server.
#ifndef SLIPWAY_SERVER_COMPILE_WORKER_GRPC_WORKER_TRANSPORT_H_
#define SLIPWAY_SERVER_COMPILE_WORKER_GRPC_WORKER_TRANSPORT_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/slipway/v1/blob.grpc.pb.h"
#include "proto/slipway/v1/worker.grpc.pb.h"
#include "server/compile_worker/worker_transport.h"

namespace slipway::worker {

class GrpcWorkerTransport final : public WorkerTransport {
 public:
  // `address` is "HOST:PORT" or "unix:PATH"; `token` may be empty. Connects when first used.
  GrpcWorkerTransport(const std::string& address, std::string token);

  absl::StatusOr<v1::DesiredWorkerState> Sync(const v1::WorkerState& state) override;
  void Interrupt() override;
  void Pause(absl::Duration pause, std::stop_token stop) override;
  absl::Status Fetch(const Digest& digest, BlobStore& store) override;
  absl::Status Send(absl::Span<const Digest> digests, BlobStore& store) override;

 private:
  void Prepare(grpc::ClientContext& context, absl::Duration deadline) const;
  absl::Status SendOne(const Digest& digest, BlobStore& store);

  const std::string token_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::WorkerService::Stub> workers_;
  const std::unique_ptr<v1::BlobService::Stub> blobs_;

  absl::Mutex mu_;
  grpc::ClientContext* syncing_ ABSL_GUARDED_BY(mu_) = nullptr;
  bool is_interrupted_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace slipway::worker

#endif  // SLIPWAY_SERVER_COMPILE_WORKER_GRPC_WORKER_TRANSPORT_H_
