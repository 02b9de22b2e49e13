#include "server/compile_worker/grpc_worker_transport.h"

#include <utility>

#include "core/base/status_macros.h"

namespace slipway::worker {
namespace {

// Beyond the time that the server may park the call.
constexpr absl::Duration kSyncSlack = absl::Seconds(15);

}  // namespace

GrpcWorkerTransport::GrpcWorkerTransport(std::string address, CallerProof proof)
    : calls_(std::move(address), std::move(proof)),
      workers_(v1::WorkerService::NewStub(calls_.channel())),
      blobs_(calls_) {}

absl::StatusOr<v1::DesiredWorkerState> GrpcWorkerTransport::Sync(const v1::WorkerState& state) {
  std::stop_token interrupted;
  {
    absl::MutexLock lock(&mutex_);
    interrupted = interrupt_.get_token();
  }
  v1::DesiredWorkerState desired;
  const absl::Status status = calls_.Once(
      absl::Nanoseconds(state.park_ns()) + kSyncSlack, {.stop = interrupted},
      [&](grpc::ClientContext& context) { return workers_->Sync(&context, state, &desired); });
  {
    absl::MutexLock lock(&mutex_);
    interrupt_ = std::stop_source();
  }
  SLIPWAY_RETURN_IF_ERROR(status);
  return desired;
}

void GrpcWorkerTransport::Interrupt() {
  absl::MutexLock lock(&mutex_);
  interrupt_.request_stop();
}

void GrpcWorkerTransport::Pause(absl::Duration pause, std::stop_token stop) {
  calls_.Pause(pause, std::move(stop));
}

absl::Status GrpcWorkerTransport::Fetch(const Digest& digest, BlobStore& store,
                                        const RetryPolicy& policy) {
  return blobs_.Fetch(digest, store, policy);
}

absl::Status GrpcWorkerTransport::Send(absl::Span<const Digest> digests, BlobStore& store,
                                       const RetryPolicy& policy) {
  const auto source = [&store](const Digest& digest) { return store.Get(digest); };
  return blobs_.Send(digests, source, policy);
}

}  // namespace slipway::worker
