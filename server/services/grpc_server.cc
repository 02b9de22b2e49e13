#include "server/services/grpc_server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <utility>

#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/identity/given_identity.h"
#include "core/identity/identity_id.h"
#include "core/rpc/grpc_credentials.h"
#include "core/rpc/grpc_listener.h"
#include "core/rpc/grpc_settings.h"
#include "core/rpc/join_door.h"
#include "server/services/blob_service.h"
#include "server/services/call_audit.h"
#include "server/services/calls.h"
#include "server/services/job_service.h"
#include "server/services/join_service.h"
#include "server/services/probe_services.h"
#include "server/services/queue_service.h"
#include "server/services/sync_services.h"
#include "server/services/unary_services.h"

namespace slipway::server {
namespace {

constexpr absl::Duration kDrainTime = absl::Milliseconds(500);
// Until whoever shut himself out has his answer.
constexpr absl::Duration kLastAnswerTime = absl::Milliseconds(100);

Parking ParkingOf(const GrpcServer::Parts& parts) {
  return {parts.env->dispatcher, parts.hub, parts.timers, parts.env->identities};
}

class RunningServer final : public GrpcServer {
 public:
  RunningServer(const Parts& parts, const Options& options)
      : env_(*parts.env),
        admission_({.identities = options.identity_file.empty() ? nullptr : env_.identities,
                    .own_worker = options.own_worker}),
        audit_(parts.audit),
        pool_(*parts.pool),
        peer_pool_(*parts.peer_pool),
        max_connections_(options.listener.connections.all),
        calls_(&admission_, parts.pool, &audit_, &counts_, TellListener()),
        peer_calls_(&admission_, parts.peer_pool, &audit_, &counts_, TellListener()),
        server_service_(&calls_, parts.env, [this] { return Front(); }),
        compile_service_(&calls_, parts.env),
        run_service_(&calls_, parts.env),
        fleet_service_(&calls_, parts.env),
        history_service_(&calls_, parts.env),
        queue_service_(&calls_, parts.env),
        identity_service_(&calls_, parts.env),
        job_service_(&calls_, parts.env, parts.hub),
        blob_service_(&calls_, parts.env),
        relays_(std::make_shared<SessionRelays>(
            &calls_, SessionRelays::Parts{parts.pool, parts.env, parts.hub, parts.timers})),
        agent_service_(&peer_calls_, parts.env, ParkingOf(parts), relays_.get()),
        worker_service_(&peer_calls_, ParkingOf(parts)),
        session_service_(relays_.get()),
        health_service_(&calls_, parts.env, parts.hub, parts.timers),
        reflection_service_(&calls_) {}

  ~RunningServer() override {
    if (listener_ != nullptr) listener_->Stop();
    door_.reset();
    if (server_ == nullptr) return;
    // Calls that are parked or watch are cancelled after this.
    server_->Shutdown(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(kDrainTime));
    server_->Wait();
  }

  absl::Status Listen(const Options& options) {
    SLIPWAY_RETURN_IF_ERROR_WITH(relays_->Recover(), "reading the sessions that wait");
    grpc::ServerBuilder builder;
    ApplyServerSettings(builder);
    ListenerOptions listener = options.listener;
    std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials();
    std::shared_ptr<grpc::ServerCredentials> by_other_names;
    if (!options.identity_file.empty()) {
      SLIPWAY_RETURN_IF_ERROR(OpenDoor(options, listener));
      ApplyConnectionAge(builder);
      credentials = ServerCredentialsFor(ServerFiles::Of(options.identity_file), MayConnect(),
                                         options.takes_tokens);
      by_other_names = GivenCredentials(options);
    }
    SLIPWAY_ASSIGN_OR_RETURN(listener_, GrpcListener::Listen(options.listen, listener, builder,
                                                             credentials, by_other_names));
    for (grpc::Service* service : std::initializer_list<grpc::Service*>{
             &server_service_, &compile_service_, &run_service_, &fleet_service_, &history_service_,
             &queue_service_, &identity_service_, &job_service_, &blob_service_, &agent_service_,
             &worker_service_, &session_service_, &health_service_, &reflection_service_}) {
      builder.RegisterService(service);
    }
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) return absl::InternalError("gRPC does not start its server");
    listener_->Start();
    return absl::OkStatus();
  }

  void EndUnwelcome() override { listener_->EndUnwelcome(kLastAnswerTime); }

  FrontSums Front() const override {
    return {.connections = listener_->counts(),
            .max_connections = max_connections_,
            .waiting_calls = pool_.waiting() + peer_pool_.waiting()};
  }
  const CallCounts& calls() const override { return counts_; }

  int64_t accepted() const override { return listener_->accepted(); }
  void Knock() const override { listener_->Knock(); }

  const std::string& address() const override { return listener_->address(); }

 private:
  // Calls come when there is a listener.
  Calls::Connections TellListener() {
    return {.origin = [this](absl::string_view peer) { return listener_->OriginOf(peer); },
            .admitted =
                [this](absl::string_view peer, absl::string_view identity) {
                  return listener_->LetInCall(peer, identity);
                }};
  }

  // Whether an identity, of a certificate or a token, is good, or that of who has no certificate, which is empty; the server's own workers need none.
  std::function<bool(absl::string_view)> IsKnown() const {
    return [this](absl::string_view id) {
      return !listener_->IsBanned(id) && (id.empty() || env_.identities->IsGood(id));
    };
  }

  std::function<bool(absl::string_view)> MayConnect() const {
    return [is_known = IsKnown()](absl::string_view uri) {
      if (uri.empty()) return is_known("");
      const auto id = IdentityOfUri(uri);
      return id.has_value() && is_known(*id);
    };
  }

  // Null: there is nothing that was given.
  std::shared_ptr<grpc::ServerCredentials> GivenCredentials(const Options& options) const {
    ServerFiles files = options.given;
    if (files.certificate.empty()) return nullptr;
    if (files.authorities.empty()) {
      files.authorities = options.identity_file;
      return ServerCredentialsFor(files, MayConnect(), options.takes_tokens);
    }
    // They name no records: another authority could name anybody's.
    const auto may_connect = [this](absl::string_view uri) {
      const auto given = GivenIdentityOfUri(uri);
      if (listener_->IsBanned(given.has_value() ? given->id() : "")) return false;
      if (!given.has_value()) return uri.empty();
      const absl::Status status = env_.identities->AdmitGiven(*given);
      if (!status.ok() && !absl::IsUnauthenticated(status)) {
        Log(LogLevel::kWarning, "a given identity is not let in", {{"why", status.message()}});
      }
      return status.ok();
    };
    return ServerCredentialsFor(files, may_connect, options.takes_tokens);
  }

  absl::Status OpenDoor(const Options& options, ListenerOptions& listener) {
    SLIPWAY_ASSIGN_OR_RETURN(
        door_, JoinDoor::Open({.identity_file = options.identity_file},
                              [this](absl::string_view request, absl::string_view peer) {
                                return AnswerJoinRequest(env_, audit_, request, peer);
                              }));
    listener.is_tls = true;
    listener.may_stay = IsKnown();
    listener.on_flood = [this](absl::string_view identity, absl::string_view address) {
      TellFlood(identity, address);
    };
    listener.on_join = [this](UniqueFd connection, std::string origin) {
      door_->Take(std::move(connection), std::move(origin));
    };
    return absl::OkStatus();
  }

  void TellFlood(absl::string_view identity, absl::string_view address) const {
    const absl::optional<v1::IdentityRecord> record = env_.identities->Find(identity);
    const std::string name = record.has_value() ? record->name() : "";
    Log(LogLevel::kWarning, "a caller floods the server with calls, and is shut out for a time",
        {{"name", name}, {"address", address}});
    audit_.TellFlood(name, identity, address);
  }

  const Environment& env_;
  const Admission admission_;
  const CallAudit audit_;
  const WorkPool& pool_;
  const WorkPool& peer_pool_;
  const int max_connections_;
  CallCounts counts_;
  const Calls calls_;
  const Calls peer_calls_;
  ServerGrpcService server_service_;
  CompileGrpcService compile_service_;
  RunGrpcService run_service_;
  FleetGrpcService fleet_service_;
  HistoryGrpcService history_service_;
  QueueGrpcService queue_service_;
  IdentityGrpcService identity_service_;
  JobGrpcService job_service_;
  BlobGrpcService blob_service_;
  const std::shared_ptr<SessionRelays> relays_;
  AgentGrpcService agent_service_;
  WorkerGrpcService worker_service_;
  SessionGrpcService session_service_;
  HealthGrpcService health_service_;
  ReflectionGrpcService reflection_service_;
  std::unique_ptr<JoinDoor> door_;  // With TLS.
  std::unique_ptr<GrpcListener> listener_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const Parts& parts,
                                                              const Options& options) {
  auto server = std::make_unique<RunningServer>(parts, options);
  SLIPWAY_RETURN_IF_ERROR(server->Listen(options));
  return std::unique_ptr<GrpcServer>(std::move(server));
}

}  // namespace slipway::server
