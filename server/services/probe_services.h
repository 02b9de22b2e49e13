// gRPC's own services for who probes a server: health and reflection.
#ifndef SLIPWAY_SERVER_SERVICES_PROBE_SERVICES_H_
#define SLIPWAY_SERVER_SERVICES_PROBE_SERVICES_H_

#include "proto/grpc/health/v1/health.grpc.pb.h"
#include "proto/grpc/reflection/v1alpha/reflection.grpc.pb.h"
#include "server/change_hub.h"
#include "server/handlers/environment.h"
#include "server/services/calls.h"
#include "server/timer_queue.h"

namespace slipway::server {

// Who watches hears of a change within a second.
class HealthGrpcService final : public grpc::health::v1::Health::CallbackService {
 public:
  HealthGrpcService(const Calls* calls, const Environment* env, const ChangeHub* hub,
                    TimerQueue* timers)
      : calls_(*calls), env_(*env), hub_(*hub), timers_(*timers) {}
  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context,
                                  const grpc::health::v1::HealthCheckRequest* request,
                                  grpc::health::v1::HealthCheckResponse* response) override;
  grpc::ServerWriteReactor<grpc::health::v1::HealthCheckResponse>* Watch(
      grpc::CallbackServerContext* context,
      const grpc::health::v1::HealthCheckRequest* request) override;

 private:
  const Calls& calls_;
  const Environment& env_;
  const ChangeHub& hub_;
  TimerQueue& timers_;
};

class ReflectionGrpcService final
    : public grpc::reflection::v1alpha::ServerReflection::CallbackService {
 public:
  explicit ReflectionGrpcService(const Calls* calls) : calls_(*calls) {}
  grpc::ServerBidiReactor<grpc::reflection::v1alpha::ServerReflectionRequest,
                          grpc::reflection::v1alpha::ServerReflectionResponse>*
  ServerReflectionInfo(grpc::CallbackServerContext* context) override;

 private:
  const Calls& calls_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_PROBE_SERVICES_H_
