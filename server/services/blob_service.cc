#include "server/services/blob_service.h"

#include <utility>

#include "absl/types/optional.h"
#include "server/handlers/blobs.h"

namespace slipway::server {
namespace {

// One Write call: takes piece after piece, each on a thread that may wait for the disk. gRPC reports one
// reaction at a time, since the next read is only started after a piece was taken.
class WriteReactor final : public grpc::ServerReadReactor<v1::WriteRequest> {
 public:
  WriteReactor(const Calls& calls, const Environment& env,
               const grpc::CallbackServerContext& context, v1::WriteResponse* response)
      : pool_(calls.pool()), response_(response) {
    const absl::StatusOr<Caller> caller = calls.Admit(context, Rpc::kWrite);
    const absl::Status may = caller.ok() ? MayWrite(*caller, env) : caller.status();
    if (may.ok()) {
      upload_.emplace(env, caller->owner);
      StartRead(&request_);
    } else {
      Finish(ToGrpc(may));
    }
  }

  void OnReadDone(bool ok) override {
    pool_.Post([this, ok] {
      if (!ok) return Finish(ToGrpc(upload_->Finish(response_)));
      const absl::Status status = upload_->Take(request_);
      if (!status.ok()) return Finish(ToGrpc(status));
      if (upload_->is_known()) return Finish(ToGrpc(upload_->Finish(response_)));
      // The next piece may be long in coming, and this one is as large as pieces are.
      delete request_.release_data();
      StartRead(&request_);
    });
  }
  void OnDone() override { delete this; }

 private:
  WorkPool& pool_;
  absl::optional<BlobUpload> upload_;  // Of a caller who was admitted.
  v1::WriteRequest request_;
  v1::WriteResponse* const response_;
};

// One Read call.
class ReadReactor final : public grpc::ServerWriteReactor<v1::ReadResponse> {
 public:
  ReadReactor(const Calls& calls, const Environment& env,
              const grpc::CallbackServerContext& context, const v1::ReadRequest& request)
      : pool_(calls.pool()) {
    absl::StatusOr<Caller> caller = calls.Admit(context, Rpc::kRead);
    if (!caller.ok()) {
      Finish(ToGrpc(caller.status()));
      return;
    }
    pool_.Post([this, &env, &request, owner = std::move(caller->owner)] {
      absl::StatusOr<std::unique_ptr<BlobDownload>> download =
          BlobDownload::Open(env, owner, request);
      if (!download.ok()) return Finish(ToGrpc(download.status()));
      download_ = *std::move(download);
      WriteNext();
    });
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(ToGrpc(absl::CancelledError("the reader went away")));
    pool_.Post([this] { WriteNext(); });
  }
  void OnDone() override { delete this; }

 private:
  void WriteNext() {
    const absl::StatusOr<bool> has_piece = download_->Next(&response_);
    if (!has_piece.ok()) return Finish(ToGrpc(has_piece.status()));
    if (!*has_piece) return Finish(grpc::Status());
    StartWrite(&response_);
  }

  WorkPool& pool_;
  std::unique_ptr<BlobDownload> download_;
  v1::ReadResponse response_;
};

}  // namespace

grpc::ServerUnaryReactor* BlobGrpcService::FindMissing(grpc::CallbackServerContext* context,
                                                       const v1::FindMissingRequest* request,
                                                       v1::FindMissingResponse* response) {
  return calls_.Unary(context, Rpc::kFindMissing, [this, request, response](const Caller&) {
    return server::FindMissing(env_, *request, response);
  });
}

grpc::ServerUnaryReactor* BlobGrpcService::QueryWrite(grpc::CallbackServerContext* context,
                                                      const v1::QueryWriteRequest* request,
                                                      v1::QueryWriteResponse* response) {
  return calls_.Unary(context, Rpc::kQueryWrite, [this, request, response](const Caller&) {
    return server::QueryWrite(env_, *request, response);
  });
}

grpc::ServerReadReactor<v1::WriteRequest>* BlobGrpcService::Write(
    grpc::CallbackServerContext* context, v1::WriteResponse* response) {
  return new WriteReactor(calls_, env_, *context, response);
}

grpc::ServerWriteReactor<v1::ReadResponse>* BlobGrpcService::Read(
    grpc::CallbackServerContext* context, const v1::ReadRequest* request) {
  return new ReadReactor(calls_, env_, *context, *request);
}

}  // namespace slipway::server
