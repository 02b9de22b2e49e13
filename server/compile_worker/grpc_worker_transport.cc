#include "server/compile_worker/grpc_worker_transport.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/rpc/grpc_reconnect.h"
#include "core/rpc/grpc_settings.h"
#include "core/rpc/grpc_status.h"
#include "core/wire/digest_proto.h"

namespace slipway::worker {
namespace {

// Beyond the time that the server may park the call.
constexpr absl::Duration kSyncSlack = absl::Seconds(15);
constexpr size_t kMostDigests = 10'000;

// What blob.proto asks callers for.
absl::Duration TransferTime(int64_t bytes) {
  return absl::Seconds(60) + absl::Seconds(bytes >> 20);
}

}  // namespace

GrpcWorkerTransport::GrpcWorkerTransport(const std::string& address, std::string token)
    : token_(std::move(token)),
      channel_(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                         ClientChannelArguments())),
      workers_(v1::WorkerService::NewStub(channel_)),
      blobs_(v1::BlobService::NewStub(channel_)) {}

void GrpcWorkerTransport::Prepare(grpc::ClientContext& context, absl::Duration deadline) const {
  if (!token_.empty()) context.AddMetadata("authorization", absl::StrCat("Bearer ", token_));
  context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(deadline));
}

absl::StatusOr<v1::DesiredWorkerState> GrpcWorkerTransport::Sync(const v1::WorkerState& state) {
  grpc::ClientContext context;
  Prepare(context, absl::Nanoseconds(state.park_ns()) + kSyncSlack);
  {
    absl::MutexLock lock(&mu_);
    if (std::exchange(is_interrupted_, false)) return absl::CancelledError("interrupted");
    syncing_ = &context;
  }
  v1::DesiredWorkerState desired;
  const grpc::Status status = workers_->Sync(&context, state, &desired);
  {
    absl::MutexLock lock(&mu_);
    syncing_ = nullptr;
    is_interrupted_ = false;
  }
  if (!status.ok()) return FromGrpc(status);
  return desired;
}

void GrpcWorkerTransport::Interrupt() {
  absl::MutexLock lock(&mu_);
  is_interrupted_ = true;
  if (syncing_ != nullptr) syncing_->TryCancel();
}

void GrpcWorkerTransport::Pause(absl::Duration pause, std::stop_token stop) {
  PauseUntilConnected(*channel_, pause, std::move(stop));
}

absl::Status GrpcWorkerTransport::Fetch(const Digest& digest, BlobStore& store) {
  absl::StatusOr<std::unique_ptr<BlobWriter>> writer = store.Write(digest);
  if (absl::IsAlreadyExists(writer.status())) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(writer.status());
  grpc::ClientContext context;
  Prepare(context, TransferTime(digest.size_bytes()));
  v1::ReadRequest request;
  *request.mutable_digest() = ToProto(digest);
  request.set_offset((*writer)->committed_bytes());
  const auto reader = blobs_->Read(&context, request);
  v1::ReadResponse piece;
  absl::Status stored;
  while (stored.ok() && reader->Read(&piece)) stored = (*writer)->Append(piece.data());
  if (!stored.ok()) context.TryCancel();
  const grpc::Status status = reader->Finish();
  SLIPWAY_RETURN_IF_ERROR(stored);
  SLIPWAY_RETURN_IF_ERROR_WITH(FromGrpc(status), absl::StrCat("fetching blob ", digest.ToString()));
  return (*writer)->Commit();
}

absl::Status GrpcWorkerTransport::Send(absl::Span<const Digest> digests, BlobStore& store) {
  for (; !digests.empty(); digests.remove_prefix(std::min(digests.size(), kMostDigests))) {
    grpc::ClientContext context;
    Prepare(context, TransferTime(0));
    v1::FindMissingRequest request;
    for (const Digest& digest : digests.subspan(0, kMostDigests)) {
      *request.add_digests() = ToProto(digest);
    }
    v1::FindMissingResponse response;
    SLIPWAY_RETURN_IF_ERROR(FromGrpc(blobs_->FindMissing(&context, request, &response)));
    for (const v1::Digest& missing : response.missing()) {
      SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(missing));
      SLIPWAY_RETURN_IF_ERROR_WITH(SendOne(digest, store),
                                   absl::StrCat("sending blob ", digest.ToString()));
    }
  }
  return absl::OkStatus();
}

absl::Status GrpcWorkerTransport::SendOne(const Digest& digest, BlobStore& store) {
  SLIPWAY_ASSIGN_OR_RETURN(const Blob blob, store.Get(digest));
  v1::QueryWriteRequest query;
  *query.mutable_digest() = ToProto(digest);
  v1::QueryWriteResponse held;
  {
    grpc::ClientContext context;
    Prepare(context, TransferTime(0));
    SLIPWAY_RETURN_IF_ERROR(FromGrpc(blobs_->QueryWrite(&context, query, &held)));
  }
  if (held.complete()) return absl::OkStatus();
  grpc::ClientContext context;
  Prepare(context, TransferTime(digest.size_bytes()));
  v1::WriteResponse response;
  const auto writer = blobs_->Write(&context, &response);
  int64_t offset = std::clamp<int64_t>(held.committed_bytes(), 0, digest.size_bytes());
  v1::WriteRequest request;
  *request.mutable_digest() = ToProto(digest);
  bool is_open = true;
  do {
    const absl::string_view data =
        blob.bytes().substr(static_cast<size_t>(offset), static_cast<size_t>(kMaxPieceBytes));
    request.set_offset(offset);
    request.set_data(std::string(data));
    is_open = writer->Write(request);
    request.clear_digest();
    offset += static_cast<int64_t>(data.size());
  } while (is_open && offset < digest.size_bytes());
  writer->WritesDone();
  return FromGrpc(writer->Finish());
}

}  // namespace slipway::worker
