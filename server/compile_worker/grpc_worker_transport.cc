#include "server/compile_worker/grpc_worker_transport.h"

#include <utility>

#include "core/base/status_macros.h"
#include "core/rpc/grpc_blob_client.h"
#include "core/rpc/grpc_calls.h"
#include "proto/slipway/v1/worker.grpc.pb.h"

namespace slipway::worker {
namespace {

// Beyond the time that the server may park the call.
constexpr absl::Duration kSyncSlack = absl::Seconds(15);

}  // namespace

// A connection to the server.
struct GrpcWorkerTransport::Line {
  Line(const std::string& address, const CallerProof& proof)
      : calls(address, proof), workers(v1::WorkerService::NewStub(calls.channel())), blobs(calls) {}

  Calls calls;
  const std::unique_ptr<v1::WorkerService::StubInterface> workers;
  BlobClient blobs;
};

GrpcWorkerTransport::GrpcWorkerTransport(std::string address, CallerProof proof)
    : address_(std::move(address)),
      proof_(std::move(proof)),
      files_(proof_),
      line_(std::make_shared<Line>(address_, proof_)) {}

std::shared_ptr<GrpcWorkerTransport::Line> GrpcWorkerTransport::CurrentLine() {
  absl::MutexLock lock(&mutex_);
  return line_;
}

absl::StatusOr<v1::DesiredWorkerState> GrpcWorkerTransport::Sync(const v1::WorkerState& state) {
  std::stop_token interrupted;
  std::shared_ptr<Line> line;
  {
    absl::MutexLock lock(&mutex_);
    interrupted = interrupt_.get_token();
    // What is under way over the line from before goes on there.
    if (files_.HaveChanged()) line_ = std::make_shared<Line>(address_, proof_);
    line = line_;
  }
  v1::DesiredWorkerState desired;
  const absl::Status status = line->calls.Once(
      absl::Nanoseconds(state.park_ns()) + kSyncSlack, {.stop = interrupted},
      [&](grpc::ClientContext& context) { return line->workers->Sync(&context, state, &desired); });
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
  CurrentLine()->calls.Pause(pause, std::move(stop));
}

absl::Status GrpcWorkerTransport::Fetch(const Digest& digest, BlobStore& store,
                                        const RetryPolicy& policy) {
  return CurrentLine()->blobs.Fetch(digest, store, policy);
}

absl::Status GrpcWorkerTransport::Send(absl::Span<const Digest> digests, BlobStore& store,
                                       const RetryPolicy& policy) {
  const auto source = [&store](const Digest& digest) { return store.Get(digest); };
  return CurrentLine()->blobs.Send(digests, source, policy);
}

}  // namespace slipway::worker
