#include "device_agent/grpc_agent_transport.h"

#include <utility>

#include "absl/synchronization/notification.h"
#include "core/base/status_macros.h"
#include "core/rpc/grpc_blob_client.h"
#include "core/rpc/grpc_calls.h"
#include "core/rpc/grpc_duplex.h"
#include "device_agent/session/grpc_session_connection.h"
#include "proto/slipway/v1/agent.grpc.pb.h"

namespace slipway {
namespace {

class GrpcSyncCall final : public SyncCall {
 public:
  GrpcSyncCall(Calls& calls, v1::AgentService::StubInterface& agents)
      : calls_(calls), agents_(agents) {}

  absl::StatusOr<v1::DesiredAgentState> Run(const v1::AgentState& state,
                                            absl::Duration deadline) override {
    v1::DesiredAgentState desired;
    SLIPWAY_RETURN_IF_ERROR(calls_.Once(
        deadline, {.stop = cancel_.get_token()},
        [&](grpc::ClientContext& context) { return agents_.Sync(&context, state, &desired); }));
    return desired;
  }
  void Cancel() override { cancel_.request_stop(); }

 private:
  Calls& calls_;
  v1::AgentService::StubInterface& agents_;
  std::stop_source cancel_;
};

class GrpcAttachCall final : public AttachCall {
 public:
  GrpcAttachCall(Calls& calls, const v1::SessionLease& lease, SessionEntrance* entrance)
      : connection_(std::make_shared<GrpcSessionConnection>(
            entrance, [end = end_](const absl::Status& status) {
              end->status = status;
              end->has_come.Notify();
            })) {
    std::unique_ptr<grpc::ClientContext> context = calls.NewContext();
    context->AddMetadata("session-id", lease.session());
    context->AddMetadata("session-ticket", lease.ticket());
    connection_->Begin(CallDuplex(connection_, calls.channel(), "/slipway.v1.AgentService/Attach",
                                  std::move(context)));
  }
  ~GrpcAttachCall() override {
    Cancel();
    end_->has_come.WaitForNotification();
  }

  absl::Status Wait() override {
    end_->has_come.WaitForNotification();
    return end_->status;
  }
  void Cancel() override { connection_->End(absl::CancelledError("the session has ended")); }

 private:
  struct End {
    absl::Status status;
    absl::Notification has_come;
  };
  const std::shared_ptr<End> end_ = std::make_shared<End>();
  const std::shared_ptr<GrpcSessionConnection> connection_;
};

class GrpcAgentTransport final : public AgentTransport {
 public:
  GrpcAgentTransport(std::string server, std::string token)
      : calls_(std::move(server), std::move(token)),
        agents_(v1::AgentService::NewStub(calls_.channel())),
        blobs_(calls_) {}

  std::unique_ptr<SyncCall> NewSync() override {
    return std::make_unique<GrpcSyncCall>(calls_, *agents_);
  }
  std::unique_ptr<AttachCall> Attach(const v1::SessionLease& lease,
                                     SessionEntrance* entrance) override {
    return std::make_unique<GrpcAttachCall>(calls_, lease, entrance);
  }
  void Pause(absl::Duration pause, std::stop_token stop) override {
    calls_.Pause(pause, std::move(stop));
  }
  absl::Status FetchBlob(const Digest& digest, BlobStore& store,
                         const RetryPolicy& policy) override {
    return blobs_.Fetch(digest, store, policy);
  }
  absl::Status SendBlob(const Digest& digest, BlobStore& store,
                        const RetryPolicy& policy) override {
    const auto source = [&store](const Digest& wanted) { return store.Get(wanted); };
    return blobs_.Send({digest}, source, policy);
  }

 private:
  Calls calls_;
  const std::unique_ptr<v1::AgentService::StubInterface> agents_;
  BlobClient blobs_;
};

}  // namespace

std::unique_ptr<AgentTransport> MakeGrpcAgentTransport(const std::string& server,
                                                       const std::string& token) {
  return std::make_unique<GrpcAgentTransport>(server, token);
}

}  // namespace slipway
