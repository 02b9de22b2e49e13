// AgentService and WorkerService over gRPC.
#ifndef SLIPWAY_SERVER_SERVICES_SYNC_SERVICES_H_
#define SLIPWAY_SERVER_SERVICES_SYNC_SERVICES_H_

#include "proto/slipway/v1/agent.grpc.pb.h"
#include "proto/slipway/v1/worker.grpc.pb.h"
#include "server/change_hub.h"
#include "server/handlers/environment.h"
#include "server/identities/identities.h"
#include "server/scheduler/dispatcher.h"
#include "server/services/calls.h"
#include "server/services/session_relay.h"
#include "server/timer_queue.h"

namespace slipway::server {

// What a parked call needs. Owns nothing.
struct Parking {
  Dispatcher* dispatcher = nullptr;
  ChangeHub* hub = nullptr;
  TimerQueue* timers = nullptr;
  const Identities* identities = nullptr;
};

class AgentGrpcService final
    : public v1::AgentService::WithRawCallbackMethod_Attach<
          v1::AgentService::WithCallbackMethod_Sync<
              v1::AgentService::WithCallbackMethod_Vouch<v1::AgentService::Service>>> {
 public:
  AgentGrpcService(const Calls* calls, const Environment* env, Parking parking,
                   SessionRelays* relays)
      : calls_(*calls), env_(*env), parking_(parking), relays_(*relays) {}
  ServedDuplex* Attach(grpc::CallbackServerContext* context) override {
    return relays_.Attach(context);
  }
  grpc::ServerUnaryReactor* Sync(grpc::CallbackServerContext* context,
                                 const v1::AgentState* request,
                                 v1::DesiredAgentState* response) override;
  grpc::ServerUnaryReactor* Vouch(grpc::CallbackServerContext* context,
                                  const v1::VouchRequest* request,
                                  v1::SignedStatement* response) override;

 private:
  const Calls& calls_;
  const Environment& env_;
  const Parking parking_;
  SessionRelays& relays_;
};

class WorkerGrpcService final : public v1::WorkerService::CallbackService {
 public:
  WorkerGrpcService(const Calls* calls, Parking parking) : calls_(*calls), parking_(parking) {}
  grpc::ServerUnaryReactor* Sync(grpc::CallbackServerContext* context,
                                 const v1::WorkerState* request,
                                 v1::DesiredWorkerState* response) override;

 private:
  const Calls& calls_;
  const Parking parking_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_SYNC_SERVICES_H_
