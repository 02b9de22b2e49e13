#include "device_agent/session/grpc_session_listener.h"

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/base/descriptor_limit.h"
#include "core/base/status_macros.h"
#include "core/rpc/grpc_credentials.h"
#include "core/rpc/grpc_duplex.h"
#include "core/rpc/grpc_listener.h"
#include "core/rpc/grpc_settings.h"
#include "core/wire/session_messages.h"
#include "device_agent/session/grpc_session_connection.h"
#include "proto/slipway/v1/session.grpc.pb.h"

namespace slipway {
namespace {

constexpr auto kDrainTime = std::chrono::milliseconds(500);

// Clients' sessions, and those who ask whether somebody is here.
constexpr int kMostConnections = 256;

using RawService = v1::SessionService::WithRawCallbackMethod_Open<v1::SessionService::Service>;

class Listener final : public SessionListener, private RawService {
 public:
  ~Listener() override {
    if (listener_ != nullptr) listener_->Stop();
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now() + kDrainTime);
    server_->Wait();
  }

  absl::Status Listen(const Options& options) {
    grpc::ServerBuilder builder;
    ApplyServerSettings(builder);
    ListenerOptions connections = ListenerOptionsFor(RaiseDescriptorLimit(), kMostConnections);
    std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials();
    if (!options.identity_file.empty()) {
      connections.is_tls = true;
      ApplyConnectionAge(builder);
      // Sessions have tickets: who was revoked has none that is good.
      credentials = ServerCredentialsFor(
          ServerFiles::Of(options.identity_file), [](absl::string_view) { return true; },
          /*takes_tokens=*/false);
    }
    SLIPWAY_ASSIGN_OR_RETURN(
        listener_, GrpcListener::Listen(options.address, connections, builder, credentials));
    builder.RegisterService(static_cast<RawService*>(this));
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) return absl::InternalError("gRPC does not start its server");
    listener_->Start();
    return absl::OkStatus();
  }

  void Serve(SessionEntrance* entrance) override {
    absl::MutexLock lock(&mutex_);
    entrance_ = entrance;
  }
  void EndServing() override {
    Serve(nullptr);
    server_->Shutdown(std::chrono::system_clock::now() + kDrainTime);
    server_->Wait();
    server_ = nullptr;
  }
  const std::string& address() const override { return listener_->address(); }

 private:
  ServedDuplex* Open(grpc::CallbackServerContext* context) override {
    // There is no limit for who has no identity.
    listener_->LetInCall(context->peer(), "").IgnoreError();
    absl::MutexLock lock(&mutex_);
    auto connection = std::make_shared<GrpcSessionConnection>(entrance_);
    ServedDuplex* reactor = nullptr;
    connection->Begin(ServeDuplex(connection, &reactor), kFirstRequestWithin);
    if (entrance_ == nullptr) {
      connection->End(absl::UnavailableError("the agent is not ready: try again"));
    }
    return reactor;
  }

  std::unique_ptr<GrpcListener> listener_;
  std::unique_ptr<grpc::Server> server_;
  absl::Mutex mutex_;
  SessionEntrance* entrance_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SessionListener>> SessionListener::Start(const Options& options) {
  auto listener = std::make_unique<Listener>();
  if (absl::Status status = listener->Listen(options); !status.ok()) return status;
  return std::unique_ptr<SessionListener>(std::move(listener));
}

}  // namespace slipway
