#include "tests/security/grpc_swapping_relay.h"

#include <grpcpp/grpcpp.h>

#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "core/base/check.h"
#include "core/rpc/grpc_credentials.h"
#include "core/rpc/grpc_settings.h"
#include "proto/slipway/v1/agent.grpc.pb.h"
#include "proto/slipway/v1/blob.grpc.pb.h"

namespace slipway::testing {
namespace {

using AgentStream = grpc::ServerReaderWriter<v1::SessionRequests, v1::SessionResponses>;

std::shared_ptr<grpc::Channel> ChannelTo(const std::string& server, const std::string& identity) {
  const CallerProof proof = {.identity_file = identity};
  grpc::ChannelArguments arguments;
  ApplyNames(proof, ServerNames(), arguments);
  return grpc::CreateCustomChannel(server, CallerCredentials(proof, ServerNames()), arguments);
}

}  // namespace

class SwappingRelay::Services final : public v1::AgentService::Service {
 public:
  explicit Services(const Options& options)
      : channel_(ChannelTo(options.server, options.agent_identity)),
        agents_(v1::AgentService::NewStub(channel_)),
        blob_service_(*this) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(
        "127.0.0.1:0",
        ServerCredentialsFor(
            ServerFiles::Of(options.server_identity), [](absl::string_view) { return true; },
            /*takes_tokens=*/false),
        &port);
    ApplyServerSettings(builder);
    builder.RegisterService(this);
    builder.RegisterService(&blob_service_);
    server_ = builder.BuildAndStart();
    SLIPWAY_CHECK(server_ != nullptr, "the relay does not start");
    address_ = absl::StrCat("127.0.0.1:", port);
  }
  ~Services() override { server_->Shutdown(std::chrono::system_clock::now()); }

  const std::string& address() const { return address_; }
  void Change(Changes changes) {
    absl::MutexLock lock(&mutex_);
    changes_ = std::move(changes);
  }

  grpc::Status Sync(grpc::ServerContext* context, const v1::AgentState* request,
                    v1::DesiredAgentState* response) override {
    const auto call = grpc::ClientContext::FromServerContext(*context);
    const grpc::Status status = agents_->Sync(call.get(), *request, response);
    const Changes changes = Get();
    if (changes.assignment) {
      for (v1::RunAssignment& assignment : *response->mutable_attempts()) {
        changes.assignment(assignment);
      }
    }
    return status;
  }

  grpc::Status Vouch(grpc::ServerContext* context, const v1::VouchRequest* request,
                     v1::SignedStatement* response) override {
    const auto call = grpc::ClientContext::FromServerContext(*context);
    const grpc::Status status = agents_->Vouch(call.get(), *request, response);
    const Changes changes = Get();
    if (changes.statement) changes.statement(*response);
    return status;
  }

  grpc::Status Attach(grpc::ServerContext* context, AgentStream* agent) override {
    const auto call = grpc::ClientContext::FromServerContext(*context);
    for (const char* name : {"session-id", "session-ticket"}) {
      const auto found = context->client_metadata().find(name);
      if (found == context->client_metadata().end()) continue;
      call->AddMetadata(name, std::string(found->second.data(), found->second.size()));
    }
    const auto server = agents_->Attach(call.get());
    std::thread answers([&] {
      v1::SessionResponses responses;
      while (agent->Read(&responses) && server->Write(responses)) {
      }
      server->WritesDone();
    });
    v1::SessionRequests requests;
    while (server->Read(&requests) && agent->Write(requests)) {
    }
    const grpc::Status status = server->Finish();
    // The agent may have more to say, which nobody waits for.
    context->TryCancel();
    answers.join();
    return status;
  }

 private:
  class Blobs final : public v1::BlobService::Service {
   public:
    explicit Blobs(Services& services)
        : services_(services), stub_(v1::BlobService::NewStub(services.channel_)) {}

    grpc::Status Read(grpc::ServerContext* context, const v1::ReadRequest* request,
                      grpc::ServerWriter<v1::ReadResponse>* writer) override {
      const auto call = grpc::ClientContext::FromServerContext(*context);
      const auto reader = stub_->Read(call.get(), *request);
      const Changes changes = services_.Get();
      v1::ReadResponse response;
      while (reader->Read(&response)) {
        if (changes.blob) changes.blob(*response.mutable_data());
        writer->Write(response);
      }
      return reader->Finish();
    }

   private:
    Services& services_;
    const std::unique_ptr<v1::BlobService::Stub> stub_;
  };

  Changes Get() const {
    absl::MutexLock lock(&mutex_);
    return changes_;
  }

  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::AgentService::Stub> agents_;
  Blobs blob_service_;
  std::string address_;
  mutable absl::Mutex mutex_;
  Changes changes_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<grpc::Server> server_;
};

SwappingRelay::SwappingRelay(const Options& options)
    : services_(std::make_unique<Services>(options)) {}

SwappingRelay::~SwappingRelay() = default;

const std::string& SwappingRelay::address() const { return services_->address(); }

void SwappingRelay::Change(Changes changes) { services_->Change(std::move(changes)); }

}  // namespace slipway::testing
