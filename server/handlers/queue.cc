#include "server/handlers/queue.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "core/base/status_macros.h"
#include "core/identity/role.h"
#include "server/devices/standing.h"
#include "server/handlers/new_job.h"
#include "server/limits.h"
#include "server/names.h"

namespace slipway::server {
namespace {

absl::Status CheckWords(absl::string_view what, absl::string_view words) {
  if (words.size() <= static_cast<size_t>(kMaxPurposeBytes)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " has ", words.size(), " bytes; at most ", kMaxPurposeBytes));
}

// The times of a reservation, in bounds: none of what is computed from them overflows.
struct Times {
  absl::Time from;
  absl::Time until;
};
absl::StatusOr<Times> ReadTimes(const Caller& caller, const Environment& env,
                                const v1::ReserveRequest& request) {
  const absl::Duration length = absl::Nanoseconds(request.length_ns());
  const absl::Duration longest = caller.roles.Has(Role::kAdmin)
                                     ? kMaxReservation
                                     : std::min(kMaxReservation, env.limits.max_reservation);
  if (length < kMinReservation || length > longest) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the reservation is for ", absl::FormatDuration(length), "; ",
        absl::FormatDuration(kMinReservation), " to ", absl::FormatDuration(longest),
        " may be yours", longest < kMaxReservation ? " (--max-reservation of the server)" : ""));
  }
  const absl::Time now = env.clock->Now();
  const absl::Time from = request.from_ns() == 0 ? now : absl::FromUnixNanos(request.from_ns());
  if (from < now) {
    return absl::InvalidArgumentError(
        absl::StrCat("the reservation would have begun ", absl::FormatDuration(now - from),
                     " ago by the server's clock; leave the begin out for now"));
  }
  if (from > now + kMaxReservationAhead) {
    return absl::InvalidArgumentError(
        absl::StrCat("the reservation would begin in ", absl::FormatDuration(from - now),
                     "; at most ", absl::FormatDuration(kMaxReservationAhead), " ahead"));
  }
  return Times{from, from + length};
}

absl::StatusOr<StandingEvent> ReadAction(const Caller& caller,
                                         const v1::SetAvailabilityRequest& request) {
  using Request = v1::SetAvailabilityRequest;
  switch (request.action()) {
    case Request::DRAIN:
      return DrainAsked{.by = caller.owner, .reason = request.reason()};
    case Request::UNDRAIN:
      return UndrainAsked{};
    case Request::QUARANTINE:
      return QuarantineAsked{.by = caller.owner, .reason = request.reason()};
    case Request::UNQUARANTINE:
      return UnquarantineAsked{};
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("action ", static_cast<int>(request.action()), " is unknown"));
  }
}

}  // namespace

absl::Status ListQueue(const Caller& caller, const Environment& env,
                       const v1::ListQueueRequest& request, v1::ListQueueResponse* response) {
  if (request.limit() < 0 || request.limit() > kMaxPageSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("limit is ", request.limit(), "; 0 to ", kMaxPageSize, " wanted"));
  }
  v1::ListQueueRequest bounded = request;
  if (request.limit() == 0) bounded.set_limit(kDefaultPageSize);
  *response = env.dispatcher->Queue(caller, bounded);
  return absl::OkStatus();
}

absl::Status Reserve(const Caller& caller, const Environment& env,
                     const v1::ReserveRequest& request, v1::Reservation* response) {
  SLIPWAY_RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  SLIPWAY_RETURN_IF_ERROR(CheckPeerId("device", request.device()));
  SLIPWAY_RETURN_IF_ERROR(CheckWords("purpose", request.purpose()));
  ReservationRecord record;
  record.set_request_id(request.request_id());
  v1::ReserveRequest work = request;
  work.clear_request_id();
  record.set_work_digest(WorkDigest("ReserveRequest", work.SerializeAsString()));
  v1::Reservation& reservation = *record.mutable_reservation();
  reservation.set_device(request.device());
  reservation.set_owner(caller.owner);
  reservation.set_purpose(request.purpose());
  // One that is asked for again may have begun meanwhile.
  SLIPWAY_ASSIGN_OR_RETURN(const absl::optional<v1::Reservation> earlier,
                           env.dispatcher->FindReservation(record));
  if (earlier.has_value()) {
    *response = *earlier;
    return absl::OkStatus();
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Times times, ReadTimes(caller, env, request));
  reservation.set_id(env.ids->Next(env.clock->Now()));
  reservation.set_from_ns(absl::ToUnixNanos(times.from));
  reservation.set_until_ns(absl::ToUnixNanos(times.until));
  SLIPWAY_ASSIGN_OR_RETURN(*response, env.dispatcher->Reserve(caller, std::move(record)));
  return absl::OkStatus();
}

absl::Status ListReservations(const Caller& caller, const Environment& env,
                              const v1::ListReservationsRequest& request,
                              v1::ListReservationsResponse* response) {
  for (v1::Reservation& reservation : env.dispatcher->OpenReservations(caller, request.device())) {
    *response->add_reservations() = std::move(reservation);
  }
  return absl::OkStatus();
}

absl::Status Unreserve(const Caller& caller, const Environment& env,
                       const v1::UnreserveRequest& request, v1::Reservation* response) {
  SLIPWAY_RETURN_IF_ERROR(CheckJobId(request.id()));
  SLIPWAY_ASSIGN_OR_RETURN(*response, env.dispatcher->Unreserve(caller, request.id()));
  return absl::OkStatus();
}

absl::Status SetAvailability(const Caller& caller, const Environment& env,
                             const v1::SetAvailabilityRequest& request, v1::Device* response) {
  SLIPWAY_RETURN_IF_ERROR(CheckPeerId("device", request.device()));
  SLIPWAY_RETURN_IF_ERROR(CheckWords("reason", request.reason()));
  SLIPWAY_ASSIGN_OR_RETURN(const StandingEvent event, ReadAction(caller, request));
  SLIPWAY_ASSIGN_OR_RETURN(*response,
                           env.dispatcher->SetAvailability(caller, request.device(), event));
  return absl::OkStatus();
}

}  // namespace slipway::server
