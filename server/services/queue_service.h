// QueueService, whose calls are all unary.
#ifndef SLIPWAY_SERVER_SERVICES_QUEUE_SERVICE_H_
#define SLIPWAY_SERVER_SERVICES_QUEUE_SERVICE_H_

#include "proto/slipway/v1/queue.grpc.pb.h"
#include "server/handlers/environment.h"
#include "server/services/calls.h"

namespace slipway::server {

class QueueGrpcService final : public v1::QueueService::CallbackService {
 public:
  QueueGrpcService(const Calls* calls, const Environment* env) : calls_(*calls), env_(*env) {}
  grpc::ServerUnaryReactor* ListQueue(grpc::CallbackServerContext* context,
                                      const v1::ListQueueRequest* request,
                                      v1::ListQueueResponse* response) override;
  grpc::ServerUnaryReactor* Reserve(grpc::CallbackServerContext* context,
                                    const v1::ReserveRequest* request,
                                    v1::Reservation* response) override;
  grpc::ServerUnaryReactor* ListReservations(grpc::CallbackServerContext* context,
                                             const v1::ListReservationsRequest* request,
                                             v1::ListReservationsResponse* response) override;
  grpc::ServerUnaryReactor* Unreserve(grpc::CallbackServerContext* context,
                                      const v1::UnreserveRequest* request,
                                      v1::Reservation* response) override;
  grpc::ServerUnaryReactor* SetAvailability(grpc::CallbackServerContext* context,
                                            const v1::SetAvailabilityRequest* request,
                                            v1::Device* response) override;

 private:
  const Calls& calls_;
  const Environment& env_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_QUEUE_SERVICE_H_
