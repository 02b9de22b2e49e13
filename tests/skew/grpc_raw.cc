#include "tests/skew/grpc_raw.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/check.h"
#include "core/rpc/grpc_settings.h"
#include "core/rpc/grpc_status.h"

namespace slipway::testing {
namespace {

constexpr char kPackage[] = "/slipway.v1.";

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string ToString(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  SLIPWAY_CHECK(buffer.DumpToSingleSlice(&slice).ok(), "a message that cannot be read");
  return std::string(reinterpret_cast<const char*>(slice.begin()), slice.size());
}

// Waits for the one operation under way.
bool Await(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  return queue.Next(&tag, &ok) && ok;
}

}  // namespace

RawClient::RawClient(const std::string& address)
    : channel_(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                         ClientChannelArguments())) {}

absl::StatusOr<std::vector<std::string>> RawClient::Call(
    const std::string& method, const std::vector<std::string>& requests) const {
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareCall(&context, absl::StrCat(kPackage, method), &queue);
  call->StartCall(nullptr);
  bool going = Await(queue);
  for (size_t i = 0; i < requests.size() && going; ++i) {
    call->Write(ToBuffer(requests[i]), nullptr);
    going = Await(queue);
  }
  if (going) {
    call->WritesDone(nullptr);
    going = Await(queue);
  }
  std::vector<std::string> responses;
  while (going) {
    grpc::ByteBuffer response;
    call->Read(&response, nullptr);
    going = Await(queue);
    if (going) responses.push_back(ToString(response));
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  Await(queue);
  if (!status.ok()) return FromGrpc(status);
  return responses;
}

// One call: reads all requests, lets the handler answer, writes all responses.
class RawServer::Call final : public grpc::ServerGenericBidiReactor {
 public:
  Call(RawServer& server, std::string method) : server_(server), method_(std::move(method)) {
    StartRead(&buffer_);
  }

  void OnReadDone(bool ok) override {
    if (ok) {
      requests_.push_back(ToString(buffer_));
      StartRead(&buffer_);
      return;
    }
    // A call that was cancelled before anything arrived.
    if (requests_.empty()) return Finish(grpc::Status::CANCELLED);
    absl::MutexLock lock(&server_.mutex_);
    server_.threads_.emplace_back([this] {
      answer_ = server_.handler_(method_, requests_);
      WriteNext();
    });
  }
  void OnWriteDone(bool) override { WriteNext(); }
  void OnDone() override { delete this; }

 private:
  void WriteNext() {
    if (next_ == answer_.responses.size()) {
      Finish(ToGrpc(answer_.status));
      return;
    }
    buffer_ = ToBuffer(answer_.responses[next_++]);
    StartWrite(&buffer_);
  }

  RawServer& server_;
  const std::string method_;
  grpc::ByteBuffer buffer_;
  std::vector<std::string> requests_;
  RawAnswer answer_;
  size_t next_ = 0;
};

grpc::ServerGenericBidiReactor* RawServer::Service::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  return new Call(server_, std::string(absl::StripPrefix(context->method(), kPackage)));
}

RawServer::RawServer(Handler handler) : handler_(std::move(handler)) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(socket_.address(), grpc::InsecureServerCredentials());
  builder.RegisterCallbackGenericService(&service_);
  ApplyServerSettings(builder);
  server_ = builder.BuildAndStart();
  SLIPWAY_CHECK(server_ != nullptr, "the server does not start");
}

RawServer::~RawServer() {
  server_->Shutdown(std::chrono::system_clock::now());
  std::vector<std::thread> threads;
  {
    absl::MutexLock lock(&mutex_);
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace slipway::testing
