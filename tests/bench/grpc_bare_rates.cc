#include "tests/bench/grpc_bare_rates.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/lifeline.h"
#include "core/base/status_macros.h"
#include "core/rpc/grpc_status.h"
#include "proto/slipway/v1/blob.grpc.pb.h"

namespace slipway::bench {
namespace {

constexpr int64_t kMessageBytes = 1 << 20;

// The messages of BlobService, with nothing behind them.
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
      explicit Reactor(v1::WriteResponse* response) : response_(response) { StartRead(&request_); }
      void OnReadDone(bool ok) override {
        if (!ok) return Finish(grpc::Status::OK);
        response_->set_committed_bytes(response_->committed_bytes() +
                                       static_cast<int64_t>(request_.data().size()));
        StartRead(&request_);
      }
      void OnDone() override { delete this; }

     private:
      v1::WriteRequest request_;
      v1::WriteResponse* const response_;
    };
    return new Reactor(response);
  }

  grpc::ServerWriteReactor<v1::ReadResponse>* Read(grpc::CallbackServerContext*,
                                                   const v1::ReadRequest* request) override {
    class Reactor final : public grpc::ServerWriteReactor<v1::ReadResponse> {
     public:
      explicit Reactor(int64_t bytes) : left_(bytes) {
        response_.set_data(std::string(kMessageBytes, 'x'));
        Next();
      }
      void OnWriteDone(bool) override { Next(); }
      void OnDone() override { delete this; }

     private:
      void Next() {
        if (left_ <= 0) return Finish(grpc::Status::OK);
        left_ -= kMessageBytes;
        StartWrite(&response_);
      }
      v1::ReadResponse response_;
      int64_t left_;
    };
    return new Reactor(request->digest().size_bytes());
  }
};

class GrpcBareRates final : public BareRates {
 public:
  explicit GrpcBareRates(const std::string& address)
      : stub_(v1::BlobService::NewStub(
            grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))) {
    data_.set_data(std::string(kMessageBytes, 'x'));
  }

  absl::StatusOr<absl::Duration> Call() override {
    grpc::ClientContext context;
    v1::QueryWriteRequest request;
    request.mutable_digest()->set_size_bytes(7);
    v1::QueryWriteResponse response;
    const absl::Duration begin = clock_.Monotonic();
    SLIPWAY_RETURN_IF_ERROR(FromGrpc(stub_->QueryWrite(&context, request, &response)));
    return clock_.Monotonic() - begin;
  }

  absl::StatusOr<absl::Duration> Put(int64_t bytes) override {
    grpc::ClientContext context;
    v1::WriteResponse response;
    const absl::Duration begin = clock_.Monotonic();
    const auto writer = stub_->Write(&context, &response);
    for (int64_t sent = 0; sent < bytes; sent += kMessageBytes) {
      if (!writer->Write(data_)) break;
    }
    writer->WritesDone();
    SLIPWAY_RETURN_IF_ERROR(FromGrpc(writer->Finish()));
    return clock_.Monotonic() - begin;
  }

  absl::StatusOr<absl::Duration> Get(int64_t bytes) override {
    grpc::ClientContext context;
    v1::ReadRequest request;
    request.mutable_digest()->set_size_bytes(bytes);
    v1::ReadResponse response;
    const absl::Duration begin = clock_.Monotonic();
    const auto reader = stub_->Read(&context, request);
    int64_t received = 0;
    while (reader->Read(&response)) received += static_cast<int64_t>(response.data().size());
    SLIPWAY_RETURN_IF_ERROR(FromGrpc(reader->Finish()));
    if (received != bytes) return absl::InternalError("the stream ended early");
    return clock_.Monotonic() - begin;
  }

 private:
  const SystemClock clock_;
  const std::unique_ptr<v1::BlobService::Stub> stub_;
  v1::WriteRequest data_;
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
