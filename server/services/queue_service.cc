#include "server/services/queue_service.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/handlers/queue.h"

namespace slipway::server {
namespace {

std::string InUtc(int64_t time_ns) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixNanos(time_ns), absl::UTCTimeZone());
}

// Which device was whose when.
std::string SubjectOf(const v1::Reservation& reservation) {
  return absl::StrCat(reservation.device(), " for ", reservation.owner(), " from ",
                      InUtc(reservation.from_ns()), " to ", InUtc(reservation.until_ns()), " (",
                      reservation.id(), ")");
}

std::string SubjectOf(const v1::SetAvailabilityRequest& request) {
  return absl::StrCat(
      absl::AsciiStrToLower(v1::SetAvailabilityRequest::Action_Name(request.action())), " ",
      request.device(), request.reason().empty() ? "" : ": ", request.reason());
}

}  // namespace

grpc::ServerUnaryReactor* QueueGrpcService::ListQueue(grpc::CallbackServerContext* context,
                                                      const v1::ListQueueRequest* request,
                                                      v1::ListQueueResponse* response) {
  return calls_.Unary(context, Rpc::kListQueue, [this, request, response](const Caller& caller) {
    return server::ListQueue(caller, env_, *request, response);
  });
}

grpc::ServerUnaryReactor* QueueGrpcService::Reserve(grpc::CallbackServerContext* context,
                                                    const v1::ReserveRequest* request,
                                                    v1::Reservation* response) {
  return calls_.Unary(
      context, Rpc::kReserve,
      [this, request, response](const Caller& caller) {
        return server::Reserve(caller, env_, *request, response);
      },
      [request, response] {
        return response->id().empty() ? request->device() : SubjectOf(*response);
      });
}

grpc::ServerUnaryReactor* QueueGrpcService::ListReservations(
    grpc::CallbackServerContext* context, const v1::ListReservationsRequest* request,
    v1::ListReservationsResponse* response) {
  return calls_.Unary(context, Rpc::kListReservations,
                      [this, request, response](const Caller& caller) {
                        return server::ListReservations(caller, env_, *request, response);
                      });
}

grpc::ServerUnaryReactor* QueueGrpcService::Unreserve(grpc::CallbackServerContext* context,
                                                      const v1::UnreserveRequest* request,
                                                      v1::Reservation* response) {
  return calls_.Unary(
      context, Rpc::kUnreserve,
      [this, request, response](const Caller& caller) {
        return server::Unreserve(caller, env_, *request, response);
      },
      [request, response] {
        return response->id().empty() ? request->id() : SubjectOf(*response);
      });
}

grpc::ServerUnaryReactor* QueueGrpcService::SetAvailability(
    grpc::CallbackServerContext* context, const v1::SetAvailabilityRequest* request,
    v1::Device* response) {
  return calls_.Unary(
      context, Rpc::kSetAvailability,
      [this, request, response](const Caller& caller) {
        return server::SetAvailability(caller, env_, *request, response);
      },
      [request] { return SubjectOf(*request); });
}

}  // namespace slipway::server
