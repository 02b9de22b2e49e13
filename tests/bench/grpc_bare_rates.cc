#include "tests/bench/grpc_bare_rates.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/lifeline.h"
#include "core/base/status_macros.h"
#include "core/rpc/grpc_status.h"
#include "proto/slipway/v1/blob.grpc.pb.h"

namespace slipway::bench {
namespace {

constexpr int64_t kMessageBytes = 1 << 20;

// The messages of BlobService, with nothing behind them but the one blob that was written last. A stream without a
// digest moves bytes of no blob: what arrives is dropped, and `offset` says how many are wanted.
class Service final : public v1::BlobService::CallbackService {
 public:
  grpc::ServerUnaryReactor* QueryWrite(grpc::CallbackServerContext* context,
                                       const v1::QueryWriteRequest* request,
                                       v1::QueryWriteResponse* response) override {
    response->set_committed_bytes(request->digest().size_bytes());
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  grpc::ServerReadReactor<v1::WriteRequest>* Write(grpc::CallbackServerContext*,
                                                   v1::WriteResponse* response) override {
    class Reactor final : public grpc::ServerReadReactor<v1::WriteRequest> {
     public:
      Reactor(std::string& kept, v1::WriteResponse* response) : kept_(kept), response_(response) {
        StartRead(&request_);
      }
      void OnReadDone(bool ok) override {
        if (!ok) return Finish(grpc::Status::OK);
        const auto begin = static_cast<size_t>(response_->committed_bytes());
        const std::string& data = request_.data();
        if (request_.has_digest()) {
          kept_.resize(static_cast<size_t>(request_.digest().size_bytes()));
          is_kept_ = true;
        }
        if (is_kept_) {
          if (data.size() > kept_.size() - begin) {
            return Finish({grpc::StatusCode::INVALID_ARGUMENT, "more bytes than the blob has"});
          }
          data.copy(kept_.data() + begin, data.size());
        }
        response_->set_committed_bytes(static_cast<int64_t>(begin + data.size()));
        StartRead(&request_);
      }
      void OnDone() override { delete this; }

     private:
      std::string& kept_;
      bool is_kept_ = false;
      v1::WriteRequest request_;
      v1::WriteResponse* const response_;
    };
    return new Reactor(kept_, response);
  }

  grpc::ServerWriteReactor<v1::ReadResponse>* Read(grpc::CallbackServerContext*,
                                                   const v1::ReadRequest* request) override {
    class Reactor final : public grpc::ServerWriteReactor<v1::ReadResponse> {
     public:
      Reactor(const std::string* kept, int64_t bytes) : kept_(kept), bytes_(bytes) {
        response_.set_data(std::string(kMessageBytes, 'x'));
        Next();
      }
      void OnWriteDone(bool ok) override { ok ? Next() : Finish(grpc::Status::CANCELLED); }
      void OnDone() override { delete this; }

     private:
      void Next() {
        if (done_ >= bytes_) return Finish(grpc::Status::OK);
        const int64_t piece = std::min(kMessageBytes, bytes_ - done_);
        if (kept_ != nullptr) {
          response_.set_data(kept_->data() + done_, static_cast<size_t>(piece));
        }
        done_ += piece;
        StartWrite(&response_);
      }
      const std::string* const kept_;
      const int64_t bytes_;
      v1::ReadResponse response_;
      int64_t done_ = 0;
    };
    if (!request->has_digest()) return new Reactor(nullptr, request->offset());
    return new Reactor(&kept_, static_cast<int64_t>(kept_.size()));
  }

 private:
  std::string kept_;
};

class GrpcBareRates final : public BareRates {
 public:
  explicit GrpcBareRates(const std::string& address)
      : stub_(v1::BlobService::NewStub(
            grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))) {}

  absl::StatusOr<absl::Duration> Call() override {
    grpc::ClientContext context;
    v1::QueryWriteRequest request;
    request.mutable_digest()->set_size_bytes(7);
    v1::QueryWriteResponse response;
    const absl::Duration begin = clock_.Monotonic();
    SLIPWAY_RETURN_IF_ERROR(FromGrpc(stub_->QueryWrite(&context, request, &response)));
    return clock_.Monotonic() - begin;
  }

  absl::StatusOr<absl::Duration> Send(int64_t bytes) override {
    const absl::Duration begin = clock_.Monotonic();
    v1::WriteRequest piece;
    piece.set_data(std::string(kMessageBytes, 'x'));
    SLIPWAY_RETURN_IF_ERROR(Write(bytes, [&](int64_t) { return &piece; }));
    return clock_.Monotonic() - begin;
  }

  absl::StatusOr<absl::Duration> Put(absl::string_view bytes) override {
    const absl::Duration begin = clock_.Monotonic();
    v1::WriteRequest piece;
    SLIPWAY_RETURN_IF_ERROR(Write(static_cast<int64_t>(bytes.size()), [&](int64_t offset) {
      piece.clear_digest();
      if (offset == 0) piece.mutable_digest()->set_size_bytes(static_cast<int64_t>(bytes.size()));
      const absl::string_view data = bytes.substr(static_cast<size_t>(offset), kMessageBytes);
      piece.set_data(data.data(), data.size());
      return &piece;
    }));
    return clock_.Monotonic() - begin;
  }

  absl::StatusOr<absl::Duration> Receive(int64_t bytes) override {
    const absl::Duration begin = clock_.Monotonic();
    v1::ReadRequest request;
    request.set_offset(bytes);
    SLIPWAY_RETURN_IF_ERROR(Read(request, bytes, [](int64_t, const std::string&) {}));
    return clock_.Monotonic() - begin;
  }

  absl::StatusOr<absl::Duration> Get(absl::Span<char> bytes) override {
    const absl::Duration begin = clock_.Monotonic();
    v1::ReadRequest request;
    request.mutable_digest();
    SLIPWAY_RETURN_IF_ERROR(Read(request, static_cast<int64_t>(bytes.size()),
                                 [&](int64_t offset, const std::string& data) {
                                   data.copy(bytes.data() + offset, data.size());
                                 }));
    return clock_.Monotonic() - begin;
  }

 private:
  // `piece_at` makes the piece that begins there.
  absl::Status Write(int64_t bytes, absl::FunctionRef<const v1::WriteRequest*(int64_t)> piece_at) {
    grpc::ClientContext context;
    v1::WriteResponse response;
    const auto writer = stub_->Write(&context, &response);
    for (int64_t sent = 0; sent < bytes; sent += kMessageBytes) {
      if (!writer->Write(*piece_at(sent))) break;
    }
    writer->WritesDone();
    return FromGrpc(writer->Finish());
  }

  absl::Status Read(const v1::ReadRequest& request, int64_t bytes,
                    absl::FunctionRef<void(int64_t, const std::string&)> take) {
    grpc::ClientContext context;
    v1::ReadResponse response;
    const auto reader = stub_->Read(&context, request);
    int64_t received = 0;
    while (reader->Read(&response)) {
      const auto size = static_cast<int64_t>(response.data().size());
      if (size > bytes - received) return absl::InternalError("the stream has too many bytes");
      take(received, response.data());
      received += size;
    }
    SLIPWAY_RETURN_IF_ERROR(FromGrpc(reader->Finish()));
    if (received != bytes) return absl::InternalError("the stream ended early");
    return absl::OkStatus();
  }

  const SystemClock clock_;
  const std::unique_ptr<v1::BlobService::Stub> stub_;
};

}  // namespace

int ServeBareRates(int ready_fd) {
  if (!FollowParent().ok()) return 1;
  Service service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  const std::string line = absl::StrCat("127.0.0.1:", port, "\n");
  if (write(ready_fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return 1;
  close(ready_fd);
  server->Wait();
  return 0;
}

absl::StatusOr<std::unique_ptr<BareRates>> BareRates::Connect(const std::string& address) {
  auto rates = std::make_unique<GrpcBareRates>(address);
  SLIPWAY_RETURN_IF_ERROR(rates->Call().status());
  return std::unique_ptr<BareRates>(std::move(rates));
}

}  // namespace slipway::bench
