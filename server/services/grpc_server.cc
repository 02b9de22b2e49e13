#include "server/services/grpc_server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <utility>

#include "core/base/status_macros.h"
#include "core/rpc/grpc_listener.h"
#include "core/rpc/grpc_settings.h"
#include "server/services/blob_service.h"
#include "server/services/calls.h"
#include "server/services/job_service.h"
#include "server/services/sync_services.h"
#include "server/services/unary_services.h"

namespace slipway::server {
namespace {

constexpr absl::Duration kDrainTime = absl::Milliseconds(500);

Parking ParkingOf(const GrpcServer::Parts& parts) {
  return {parts.env->dispatcher, parts.hub, parts.timers, parts.env->identities};
}

class RunningServer final : public GrpcServer {
 public:
  RunningServer(const Parts& parts, const Options& options)
      : admission_(options.secrets),
        calls_(&admission_, parts.pool),
        server_service_(&calls_, parts.env),
        compile_service_(&calls_, parts.env),
        run_service_(&calls_, parts.env),
        fleet_service_(&calls_, parts.env),
        identity_service_(&calls_, parts.env),
        job_service_(&calls_, parts.env, parts.hub),
        blob_service_(&calls_, parts.env),
        relays_(std::make_shared<SessionRelays>(
            &calls_, SessionRelays::Parts{parts.pool, parts.env, parts.hub, parts.timers})),
        agent_service_(&calls_, ParkingOf(parts), relays_.get()),
        worker_service_(&calls_, ParkingOf(parts)),
        session_service_(relays_.get()) {}

  ~RunningServer() override {
    listener_.reset();
    if (server_ == nullptr) return;
    // Calls that are parked or watch are cancelled after this.
    server_->Shutdown(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(kDrainTime));
    server_->Wait();
  }

  absl::Status Listen(const Options& options) {
    SLIPWAY_RETURN_IF_ERROR_WITH(relays_->Recover(), "reading the sessions that wait");
    grpc::ServerBuilder builder;
    ApplyServerSettings(builder);
    SLIPWAY_ASSIGN_OR_RETURN(listener_,
                             GrpcListener::Listen(options.listen, options.listener, builder,
                                                  grpc::InsecureServerCredentials()));
    for (grpc::Service* service : std::initializer_list<grpc::Service*>{
             &server_service_, &compile_service_, &run_service_, &fleet_service_,
             &identity_service_, &job_service_, &blob_service_, &agent_service_, &worker_service_,
             &session_service_}) {
      builder.RegisterService(service);
    }
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) return absl::InternalError("gRPC does not start its server");
    listener_->Start();
    return absl::OkStatus();
  }

  const std::string& address() const override { return listener_->address(); }

 private:
  const Admission admission_;
  const Calls calls_;
  ServerGrpcService server_service_;
  CompileGrpcService compile_service_;
  RunGrpcService run_service_;
  FleetGrpcService fleet_service_;
  IdentityGrpcService identity_service_;
  JobGrpcService job_service_;
  BlobGrpcService blob_service_;
  const std::shared_ptr<SessionRelays> relays_;
  AgentGrpcService agent_service_;
  WorkerGrpcService worker_service_;
  SessionGrpcService session_service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<GrpcListener> listener_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const Parts& parts,
                                                              const Options& options) {
  auto server = std::make_unique<RunningServer>(parts, options);
  SLIPWAY_RETURN_IF_ERROR(server->Listen(options));
  return std::unique_ptr<GrpcServer>(std::move(server));
}

}  // namespace slipway::server
