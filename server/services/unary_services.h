// The services whose calls are all unary, and SessionService, whose messages are relayed.
#ifndef SLIPWAY_SERVER_SERVICES_UNARY_SERVICES_H_
#define SLIPWAY_SERVER_SERVICES_UNARY_SERVICES_H_

#include <functional>
#include <utility>

#include "proto/slipway/v1/compile.grpc.pb.h"
#include "proto/slipway/v1/fleet.grpc.pb.h"
#include "proto/slipway/v1/history.grpc.pb.h"
#include "proto/slipway/v1/identity.grpc.pb.h"
#include "proto/slipway/v1/run.grpc.pb.h"
#include "proto/slipway/v1/server.grpc.pb.h"
#include "proto/slipway/v1/session.grpc.pb.h"
#include "server/handlers/environment.h"
#include "server/handlers/status.h"
#include "server/services/calls.h"
#include "server/services/session_relay.h"

namespace slipway::server {

class ServerGrpcService final : public v1::ServerService::CallbackService {
 public:
  // `front` tells what the services know; called when calls come.
  ServerGrpcService(const Calls* calls, const Environment* env, std::function<FrontSums()> front)
      : calls_(*calls), env_(*env), front_(std::move(front)) {}
  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest* request,
                                          v1::ServerInfo* response) override;
  grpc::ServerUnaryReactor* GetServerStatus(grpc::CallbackServerContext* context,
                                            const v1::GetServerStatusRequest* request,
                                            v1::ServerStatus* response) override;
  grpc::ServerUnaryReactor* SetLogLevel(grpc::CallbackServerContext* context,
                                        const v1::SetLogLevelRequest* request,
                                        v1::SetLogLevelResponse* response) override;

 private:
  const Calls& calls_;
  const Environment& env_;
  const std::function<FrontSums()> front_;
};

class CompileGrpcService final : public v1::CompileService::CallbackService {
 public:
  CompileGrpcService(const Calls* calls, const Environment* env) : calls_(*calls), env_(*env) {}
  grpc::ServerUnaryReactor* CreateCompilation(grpc::CallbackServerContext* context,
                                              const v1::CreateCompilationRequest* request,
                                              v1::CreateCompilationResponse* response) override;

 private:
  const Calls& calls_;
  const Environment& env_;
};

class RunGrpcService final : public v1::RunService::CallbackService {
 public:
  RunGrpcService(const Calls* calls, const Environment* env) : calls_(*calls), env_(*env) {}
  grpc::ServerUnaryReactor* CreateRun(grpc::CallbackServerContext* context,
                                      const v1::CreateRunRequest* request,
                                      v1::CreateJobResponse* response) override;
  grpc::ServerUnaryReactor* CreateBenchmark(grpc::CallbackServerContext* context,
                                            const v1::CreateBenchmarkRequest* request,
                                            v1::CreateJobResponse* response) override;

 private:
  const Calls& calls_;
  const Environment& env_;
};

class FleetGrpcService final : public v1::FleetService::CallbackService {
 public:
  FleetGrpcService(const Calls* calls, const Environment* env) : calls_(*calls), env_(*env) {}
  grpc::ServerUnaryReactor* ListDevices(grpc::CallbackServerContext* context,
                                        const v1::ListDevicesRequest* request,
                                        v1::ListDevicesResponse* response) override;
  grpc::ServerUnaryReactor* ListWorkers(grpc::CallbackServerContext* context,
                                        const v1::ListWorkersRequest* request,
                                        v1::ListWorkersResponse* response) override;
  grpc::ServerUnaryReactor* SetDeviceLabels(grpc::CallbackServerContext* context,
                                            const v1::SetDeviceLabelsRequest* request,
                                            v1::SetDeviceLabelsResponse* response) override;
  grpc::ServerUnaryReactor* OfferAgent(grpc::CallbackServerContext* context,
                                       const v1::OfferAgentRequest* request,
                                       v1::AgentOffer* response) override;
  grpc::ServerUnaryReactor* ListAgentOffers(grpc::CallbackServerContext* context,
                                            const v1::ListAgentOffersRequest* request,
                                            v1::ListAgentOffersResponse* response) override;
  grpc::ServerUnaryReactor* WithdrawAgentOffer(grpc::CallbackServerContext* context,
                                               const v1::WithdrawAgentOfferRequest* request,
                                               v1::AgentOffer* response) override;

 private:
  const Calls& calls_;
  const Environment& env_;
};

class HistoryGrpcService final : public v1::HistoryService::CallbackService {
 public:
  HistoryGrpcService(const Calls* calls, const Environment* env) : calls_(*calls), env_(*env) {}
  grpc::ServerUnaryReactor* ListHistory(grpc::CallbackServerContext* context,
                                        const v1::ListHistoryRequest* request,
                                        v1::ListHistoryResponse* response) override;
  grpc::ServerUnaryReactor* GetHistoryEntry(grpc::CallbackServerContext* context,
                                            const v1::GetHistoryEntryRequest* request,
                                            v1::HistoryEntry* response) override;
  grpc::ServerUnaryReactor* GetRecord(grpc::CallbackServerContext* context,
                                      const v1::GetHistoryEntryRequest* request,
                                      v1::SignedRecord* response) override;

 private:
  const Calls& calls_;
  const Environment& env_;
};

class IdentityGrpcService final : public v1::IdentityService::CallbackService {
 public:
  IdentityGrpcService(const Calls* calls, const Environment* env) : calls_(*calls), env_(*env) {}
  grpc::ServerUnaryReactor* Invite(grpc::CallbackServerContext* context,
                                   const v1::InviteRequest* request,
                                   v1::InviteResponse* response) override;
  grpc::ServerUnaryReactor* CreateToken(grpc::CallbackServerContext* context,
                                        const v1::CreateTokenRequest* request,
                                        v1::CreateTokenResponse* response) override;
  grpc::ServerUnaryReactor* ListIdentities(grpc::CallbackServerContext* context,
                                           const v1::ListIdentitiesRequest* request,
                                           v1::ListIdentitiesResponse* response) override;
  grpc::ServerUnaryReactor* Revoke(grpc::CallbackServerContext* context,
                                   const v1::RevokeRequest* request,
                                   v1::RevokeResponse* response) override;
  grpc::ServerUnaryReactor* Renew(grpc::CallbackServerContext* context,
                                  const v1::RenewRequest* request,
                                  v1::RenewResponse* response) override;

 private:
  const Calls& calls_;
  const Environment& env_;
};

// Its messages are passed on as they are.
class SessionGrpcService final
    : public v1::SessionService::WithRawCallbackMethod_Open<v1::SessionService::Service> {
 public:
  explicit SessionGrpcService(SessionRelays* relays) : relays_(*relays) {}
  ServedDuplex* Open(grpc::CallbackServerContext* context) override {
    return relays_.Open(context);
  }

 private:
  SessionRelays& relays_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_UNARY_SERVICES_H_
