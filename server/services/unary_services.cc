#include "server/services/unary_services.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/handlers/agent_offers.h"
#include "server/handlers/compilations.h"
#include "server/handlers/fleet.h"
#include "server/handlers/history.h"
#include "server/handlers/identities.h"
#include "server/handlers/runs.h"
#include "server/identities/roles.h"

namespace slipway::server {
namespace {

// Who was shut out, as the request and the records say it.
std::string SubjectOf(const v1::RevokeRequest& request, const v1::RevokeResponse& response) {
  if (response.records().empty() || response.records(0).name() == request.id_or_name()) {
    return request.id_or_name();
  }
  return absl::StrCat(response.records(0).name(), " (", request.id_or_name(), ")");
}

// Whom an administrator lets in, as what.
template <typename Request>
std::string SubjectOf(const Request& request, const v1::IdentityRecord& record) {
  return absl::StrCat(request.name(), record.roles().empty() ? "" : " as ",
                      RolesOf(record).ToString("+"));
}

// What is offered to whom.
std::string SubjectOf(const v1::AgentOffer& offer) {
  return absl::StrCat(offer.version(), " to ", offer.platform(),
                      offer.selector().empty() ? "" : ", ", offer.selector(), " (",
                      offer.binary().sha256(), ")");
}

}  // namespace

grpc::ServerUnaryReactor* ServerGrpcService::GetServerInfo(grpc::CallbackServerContext* context,
                                                           const v1::GetServerInfoRequest*,
                                                           v1::ServerInfo* response) {
  return calls_.Unary(context, Rpc::kGetServerInfo, [this, response](const Caller& caller) {
    return server::GetServerInfo(caller, env_, response);
  });
}

grpc::ServerUnaryReactor* ServerGrpcService::GetServerStatus(grpc::CallbackServerContext* context,
                                                             const v1::GetServerStatusRequest*,
                                                             v1::ServerStatus* response) {
  return calls_.Unary(context, Rpc::kGetServerStatus, [this, response](const Caller&) {
    return server::GetServerStatus(env_, front_(), response);
  });
}

grpc::ServerUnaryReactor* ServerGrpcService::SetLogLevel(grpc::CallbackServerContext* context,
                                                         const v1::SetLogLevelRequest* request,
                                                         v1::SetLogLevelResponse* response) {
  return calls_.Unary(
      context, Rpc::kSetLogLevel,
      [this, request, response](const Caller& caller) {
        return server::SetLogLevel(caller, env_, *request, response);
      },
      [request] {
        return absl::StrCat(request->level().empty() ? "default" : request->level(),
                            request->with_peers() ? " of the fleet" : "");
      });
}

grpc::ServerUnaryReactor* CompileGrpcService::CreateCompilation(
    grpc::CallbackServerContext* context, const v1::CreateCompilationRequest* request,
    v1::CreateCompilationResponse* response) {
  return calls_.Unary(
      context, Rpc::kCreateCompilation,
      [this, request, response](const Caller& caller) {
        return server::CreateCompilation(caller, env_, *request, response);
      },
      [response] { return response->job_id(); });
}

grpc::ServerUnaryReactor* RunGrpcService::CreateRun(grpc::CallbackServerContext* context,
                                                    const v1::CreateRunRequest* request,
                                                    v1::CreateJobResponse* response) {
  return calls_.Unary(
      context, Rpc::kCreateRun,
      [this, request, response](const Caller& caller) {
        return server::CreateRun(caller, env_, *request, response);
      },
      [response] { return response->job_id(); });
}

grpc::ServerUnaryReactor* RunGrpcService::CreateBenchmark(grpc::CallbackServerContext* context,
                                                          const v1::CreateBenchmarkRequest* request,
                                                          v1::CreateJobResponse* response) {
  return calls_.Unary(
      context, Rpc::kCreateBenchmark,
      [this, request, response](const Caller& caller) {
        return server::CreateBenchmark(caller, env_, *request, response);
      },
      [response] { return response->job_id(); });
}

grpc::ServerUnaryReactor* FleetGrpcService::ListDevices(grpc::CallbackServerContext* context,
                                                        const v1::ListDevicesRequest* request,
                                                        v1::ListDevicesResponse* response) {
  return calls_.Unary(context, Rpc::kListDevices, [this, request, response](const Caller& caller) {
    return server::ListDevices(caller, env_, *request, response);
  });
}

grpc::ServerUnaryReactor* FleetGrpcService::OfferAgent(grpc::CallbackServerContext* context,
                                                       const v1::OfferAgentRequest* request,
                                                       v1::AgentOffer* response) {
  return calls_.Unary(
      context, Rpc::kOfferAgent,
      [this, request, response](const Caller& caller) {
        return server::OfferAgent(caller, env_, *request, response);
      },
      [request] { return SubjectOf(request->offer()); });
}

grpc::ServerUnaryReactor* FleetGrpcService::ListAgentOffers(grpc::CallbackServerContext* context,
                                                            const v1::ListAgentOffersRequest*,
                                                            v1::ListAgentOffersResponse* response) {
  return calls_.Unary(context, Rpc::kListAgentOffers, [this, response](const Caller&) {
    return server::ListAgentOffers(env_, response);
  });
}

grpc::ServerUnaryReactor* FleetGrpcService::WithdrawAgentOffer(
    grpc::CallbackServerContext* context, const v1::WithdrawAgentOfferRequest* request,
    v1::AgentOffer* response) {
  return calls_.Unary(
      context, Rpc::kWithdrawAgentOffer,
      [this, request, response](const Caller&) {
        return server::WithdrawAgentOffer(env_, *request, response);
      },
      [request] { return request->platform(); });
}

grpc::ServerUnaryReactor* FleetGrpcService::SetDeviceLabels(
    grpc::CallbackServerContext* context, const v1::SetDeviceLabelsRequest* request,
    v1::SetDeviceLabelsResponse* response) {
  return calls_.Unary(
      context, Rpc::kSetDeviceLabels,
      [this, request, response](const Caller& caller) {
        return server::SetDeviceLabels(caller, env_, *request, response);
      },
      [request] { return request->device(); });
}

grpc::ServerUnaryReactor* FleetGrpcService::ListWorkers(grpc::CallbackServerContext* context,
                                                        const v1::ListWorkersRequest*,
                                                        v1::ListWorkersResponse* response) {
  return calls_.Unary(context, Rpc::kListWorkers, [this, response](const Caller& caller) {
    return server::ListWorkers(caller, env_, response);
  });
}

grpc::ServerUnaryReactor* HistoryGrpcService::ListHistory(grpc::CallbackServerContext* context,
                                                          const v1::ListHistoryRequest* request,
                                                          v1::ListHistoryResponse* response) {
  return calls_.Unary(context, Rpc::kListHistory, [this, request, response](const Caller& caller) {
    return server::ListHistory(caller, env_, *request, response);
  });
}

grpc::ServerUnaryReactor* HistoryGrpcService::GetHistoryEntry(
    grpc::CallbackServerContext* context, const v1::GetHistoryEntryRequest* request,
    v1::HistoryEntry* response) {
  return calls_.Unary(context, Rpc::kGetHistoryEntry,
                      [this, request, response](const Caller& caller) {
                        return server::GetHistoryEntry(caller, env_, *request, response);
                      });
}

grpc::ServerUnaryReactor* HistoryGrpcService::GetRecord(grpc::CallbackServerContext* context,
                                                        const v1::GetHistoryEntryRequest* request,
                                                        v1::SignedRecord* response) {
  return calls_.Unary(context, Rpc::kGetRecord, [this, request, response](const Caller& caller) {
    return server::GetRecord(caller, env_, *request, response);
  });
}

grpc::ServerUnaryReactor* IdentityGrpcService::Invite(grpc::CallbackServerContext* context,
                                                      const v1::InviteRequest* request,
                                                      v1::InviteResponse* response) {
  return calls_.Unary(
      context, Rpc::kInvite,
      [this, request, response](const Caller& caller) {
        return server::Invite(caller, env_, *request, response);
      },
      [request, response] { return SubjectOf(*request, response->record()); });
}

grpc::ServerUnaryReactor* IdentityGrpcService::CreateToken(grpc::CallbackServerContext* context,
                                                           const v1::CreateTokenRequest* request,
                                                           v1::CreateTokenResponse* response) {
  return calls_.Unary(
      context, Rpc::kCreateToken,
      [this, request, response](const Caller& caller) {
        return server::CreateToken(caller, env_, *request, response);
      },
      [request, response] { return SubjectOf(*request, response->record()); });
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
  return calls_.Unary(
      context, Rpc::kRevoke,
      [this, request, response](const Caller& caller) {
        return server::Revoke(caller, env_, *request, response);
      },
      [request, response] { return SubjectOf(*request, *response); });
}

grpc::ServerUnaryReactor* IdentityGrpcService::Renew(grpc::CallbackServerContext* context,
                                                     const v1::RenewRequest* request,
                                                     v1::RenewResponse* response) {
  return calls_.Unary(context, Rpc::kRenew, [this, request, response](const Caller& caller) {
    return server::Renew(caller, env_, *request, response);
  });
}

}  // namespace slipway::server
