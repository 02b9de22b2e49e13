// QueueService: what waits, and who may have devices when.
#ifndef SLIPWAY_SERVER_HANDLERS_QUEUE_H_
#define SLIPWAY_SERVER_HANDLERS_QUEUE_H_

#include "absl/status/status.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/queue.pb.h"
#include "server/caller.h"
#include "server/handlers/environment.h"

namespace slipway::server {

absl::Status ListQueue(const Caller& caller, const Environment& env,
                       const v1::ListQueueRequest& request, v1::ListQueueResponse* response);
absl::Status Reserve(const Caller& caller, const Environment& env,
                     const v1::ReserveRequest& request, v1::Reservation* response);
absl::Status ListReservations(const Caller& caller, const Environment& env,
                              const v1::ListReservationsRequest& request,
                              v1::ListReservationsResponse* response);
absl::Status Unreserve(const Caller& caller, const Environment& env,
                       const v1::UnreserveRequest& request, v1::Reservation* response);
absl::Status SetAvailability(const Caller& caller, const Environment& env,
                             const v1::SetAvailabilityRequest& request, v1::Device* response);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_QUEUE_H_
