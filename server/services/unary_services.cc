#include "server/services/unary_services.h"

#include "server/handlers/compilations.h"
#include "server/handlers/fleet.h"
#include "server/handlers/identities.h"
#include "server/handlers/runs.h"

namespace slipway::server {
grpc::ServerUnaryReactor* ServerGrpcService::GetServerInfo(grpc::CallbackServerContext* context,
                                                           const v1::GetServerInfoRequest*,
                                                           v1::ServerInfo* response) {
  return calls_.Unary(context, Rpc::kGetServerInfo, [this, response](const Caller&) {
    return server::GetServerInfo(env_, response);
  });
}

grpc::ServerUnaryReactor* CompileGrpcService::CreateCompilation(
    grpc::CallbackServerContext* context, const v1::CreateCompilationRequest* request,
    v1::CreateCompilationResponse* response) {
  return calls_.Unary(context, Rpc::kCreateCompilation,
                      [this, request, response](const Caller& caller) {
                        return server::CreateCompilation(caller, env_, *request, response);
                      });
}

grpc::ServerUnaryReactor* RunGrpcService::CreateRun(grpc::CallbackServerContext* context,
                                                    const v1::CreateRunRequest* request,
                                                    v1::CreateJobResponse* response) {
  return calls_.Unary(context, Rpc::kCreateRun, [this, request, response](const Caller& caller) {
    return server::CreateRun(caller, env_, *request, response);
  });
}

grpc::ServerUnaryReactor* RunGrpcService::CreateBenchmark(grpc::CallbackServerContext* context,
                                                          const v1::CreateBenchmarkRequest* request,
                                                          v1::CreateJobResponse* response) {
  return calls_.Unary(context, Rpc::kCreateBenchmark,
                      [this, request, response](const Caller& caller) {
                        return server::CreateBenchmark(caller, env_, *request, response);
                      });
}

grpc::ServerUnaryReactor* FleetGrpcService::ListDevices(grpc::CallbackServerContext* context,
                                                        const v1::ListDevicesRequest*,
                                                        v1::ListDevicesResponse* response) {
  return calls_.Unary(context, Rpc::kListDevices, [this, response](const Caller& caller) {
    return server::ListDevices(caller, env_, response);
  });
}

grpc::ServerUnaryReactor* FleetGrpcService::ListWorkers(grpc::CallbackServerContext* context,
                                                        const v1::ListWorkersRequest*,
                                                        v1::ListWorkersResponse* response) {
  return calls_.Unary(context, Rpc::kListWorkers, [this, response](const Caller& caller) {
    return server::ListWorkers(caller, env_, response);
  });
}

grpc::ServerUnaryReactor* IdentityGrpcService::Invite(grpc::CallbackServerContext* context,
                                                      const v1::InviteRequest* request,
                                                      v1::InviteResponse* response) {
  return calls_.Unary(context, Rpc::kInvite, [this, request, response](const Caller& caller) {
    return server::Invite(caller, env_, *request, response);
  });
}

grpc::ServerUnaryReactor* IdentityGrpcService::CreateToken(grpc::CallbackServerContext* context,
                                                           const v1::CreateTokenRequest* request,
                                                           v1::CreateTokenResponse* response) {
  return calls_.Unary(context, Rpc::kCreateToken, [this, request, response](const Caller& caller) {
    return server::CreateToken(caller, env_, *request, response);
  });
}

grpc::ServerUnaryReactor* IdentityGrpcService::ListIdentities(
    grpc::CallbackServerContext* context, const v1::ListIdentitiesRequest* request,
    v1::ListIdentitiesResponse* response) {
  return calls_.Unary(context, Rpc::kListIdentities, [this, request, response](const Caller&) {
    return server::ListIdentities(env_, *request, response);
  });
}

grpc::ServerUnaryReactor* IdentityGrpcService::Revoke(grpc::CallbackServerContext* context,
                                                      const v1::RevokeRequest* request,
                                                      v1::RevokeResponse* response) {
  return calls_.Unary(context, Rpc::kRevoke, [this, request, response](const Caller& caller) {
    return server::Revoke(caller, env_, *request, response);
  });
}

grpc::ServerUnaryReactor* IdentityGrpcService::Renew(grpc::CallbackServerContext* context,
                                                     const v1::RenewRequest* request,
                                                     v1::RenewResponse* response) {
  return calls_.Unary(context, Rpc::kRenew, [this, request, response](const Caller& caller) {
    return server::Renew(caller, env_, *request, response);
  });
}

}  // namespace slipway::server
