// Dispatcher: who may have devices when: standings and reservations.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/identity/role.h"
#include "server/devices/opening.h"
#include "server/scheduler/dispatcher.h"
#include "server/scheduler/dispatcher_section.h"

namespace slipway::server {
namespace {

v1::Reservation Show(const v1::Reservation& reservation, const Caller& caller) {
  v1::Reservation shown = reservation;
  if (!MayTouch(caller, reservation.owner())) shown.clear_id();
  return shown;
}

absl::Status NoSuchReservation(absl::string_view id) {
  return absl::NotFoundError(absl::StrCat("there is no reservation '", id,
                                          "'; 'slipway reservations' lists those that are"));
}

// What could not be stored is done in memory, and will be stored: asked for again, it is there.
absl::Status NotStoredYet(const absl::Status& status) {
  if (status.ok()) return status;
  return absl::UnavailableError(absl::StrCat("it could not be stored yet: ", status.message()));
}

}  // namespace

absl::Status Dispatcher::RecoverDevices() {
  SLIPWAY_ASSIGN_OR_RETURN_WITH(std::vector<v1::Device> devices, parts_.devices->LoadDevices(),
                                "reading the known devices");
  SLIPWAY_ASSIGN_OR_RETURN_WITH(std::vector<DeviceStanding> standings,
                                parts_.devices->LoadStandings(),
                                "reading what devices are kept from work");
  SLIPWAY_ASSIGN_OR_RETURN_WITH(std::vector<ReservationRecord> reservations,
                                parts_.devices->LoadReservations(), "reading the reservations");
  Section section(this);
  for (const v1::Device& device : devices) {
    const std::string gone = peers_.Restore(device, parts_.clock->Monotonic());
    if (!gone.empty()) writer_.DeleteDevice(gone);
  }
  for (DeviceStanding& standing : standings) {
    standings_[standing.device()] = std::move(standing);
  }
  for (ReservationRecord& record : reservations) reservations_.Put(std::move(record));
  return absl::OkStatus();
}

const DeviceStanding* Dispatcher::StandingOf(absl::string_view device) {
  const auto it = standings_.find(device);
  return it == standings_.end() ? nullptr : &it->second;
}

Opening Dispatcher::OpeningOfDevice(absl::string_view device) {
  const absl::Time now = parts_.clock->Now();
  return OpeningOf(StandingOf(device), reservations_.Of(device, now), now);
}

void Dispatcher::LookAgainAt(absl::string_view device) {
  const std::string agent = peers_.AgentOfDevice(device);
  if (!agent.empty()) to_fill_.insert(agent);
}

absl::Status Dispatcher::MoveStanding(const std::string& device, const StandingEvent& event) {
  DeviceStanding from;
  from.set_device(device);
  if (const DeviceStanding* known = StandingOf(device)) from = *known;
  SLIPWAY_ASSIGN_OR_RETURN(DeviceStanding next, ApplyToStanding(from, event, parts_.clock->Now()));
  if (StandingRuleFor(from.state(), event.index()) == StandingRule::kStay) return absl::OkStatus();
  if (next.SerializeAsString() == from.SerializeAsString()) return absl::OkStatus();
  next.set_revision(from.revision() + 1);
  if (next.state() != from.state()) {
    Log(LogLevel::kInfo, "device",
        {{"id", device},
         {"is", StandingName(next.state())},
         {"was", StandingName(from.state())},
         {"by", next.by()},
         {"why", next.reason()}});
  }
  writer_.PutStanding(next, from.revision());
  standings_[device] = std::move(next);
  LookAgainAt(device);
  return absl::OkStatus();
}

void Dispatcher::StandingOvertaken(DeviceStanding stored) {
  Log(LogLevel::kWarning, "standing changed by another server", {{"device", stored.device()}});
  absl::MutexLock lock(&mu_);
  const std::string device = stored.device();
  standings_[device] = std::move(stored);
  LookAgainAt(device);
}

void Dispatcher::ShowAvailability(const Caller& caller, v1::Device* device) {
  const std::string& id = device->description().id();
  const Reservations::Ahead reserved = reservations_.Of(id, parts_.clock->Now());
  v1::Availability& shown = *device->mutable_availability();
  shown.set_state(v1::Availability::AVAILABLE);
  if (const v1::Reservation* const first = reserved.now != nullptr ? reserved.now : reserved.next) {
    *shown.mutable_reservation() = Show(*first, caller);
  }
  if (reserved.now != nullptr) shown.set_state(v1::Availability::RESERVED);
  const DeviceStanding* const standing = StandingOf(id);
  if (standing == nullptr || standing->state() == DeviceStanding::OPEN) return;
  const bool is_drained = standing->state() == DeviceStanding::DRAINED;
  shown.set_state(!is_drained                           ? v1::Availability::QUARANTINED
                  : device->state() == v1::Device::BUSY ? v1::Availability::DRAINING
                                                        : v1::Availability::DRAINED);
  shown.set_reason(standing->reason());
  shown.set_by(standing->by());
  shown.set_since_ns(standing->since_ns());
}

absl::StatusOr<v1::Device> Dispatcher::SetAvailability(const Caller& caller,
                                                       const std::string& device,
                                                       const StandingEvent& event) {
  {
    Section section(this);
    if (peers_.AgentOfDevice(device).empty()) {
      return absl::NotFoundError(absl::StrCat(
          "no device '", device, "' is known; 'slipway devices' lists those that are"));
    }
    SLIPWAY_RETURN_IF_ERROR(MoveStanding(device, event));
    Schedule();
    SLIPWAY_RETURN_IF_ERROR(NotStoredYet(section.End()));
  }
  for (v1::Device& shown : Devices(caller)) {
    if (shown.description().id() == device) return std::move(shown);
  }
  return absl::NotFoundError(absl::StrCat("device '", device, "' was forgotten meanwhile"));
}

absl::Status Dispatcher::CheckReservation(const Caller& caller, const ReservationRecord& record) {
  const v1::Reservation& wanted = record.reservation();
  const absl::Time now = parts_.clock->Now();
  if (peers_.AgentOfDevice(wanted.device()).empty()) {
    return absl::NotFoundError(absl::StrCat("no device '", wanted.device(),
                                            "' is known; 'slipway devices' lists those that are"));
  }
  if (reservations_.OpenOfAll(now) >= kMaxReservations) {
    return absl::ResourceExhaustedError(
        absl::StrCat("there are ", kMaxReservations, " reservations, and there may be no more"));
  }
  if (!caller.roles.Has(Role::kAdmin) &&
      reservations_.OpenOf(caller.owner, now) >= options_.max_reservations_of_owner) {
    return absl::ResourceExhaustedError(
        absl::StrCat("you have ", options_.max_reservations_of_owner,
                     " reservations, and may have no more (--max-reservations of the server): give "
                     "one up with 'slipway unreserve'"));
  }
  return reservations_.CheckFree(wanted);
}

absl::StatusOr<absl::optional<v1::Reservation>> Dispatcher::EarlierReservation(
    const ReservationRecord& like) {
  const ReservationRecord* const earlier =
      reservations_.FindRequest(like.reservation().owner(), like.request_id());
  if (earlier == nullptr) return absl::optional<v1::Reservation>();
  if (earlier->work_digest() == like.work_digest()) {
    return absl::optional<v1::Reservation>(earlier->reservation());
  }
  return absl::AlreadyExistsError(absl::StrCat("request '", like.request_id(),
                                               "' was for another reservation: choose another id"));
}

absl::StatusOr<absl::optional<v1::Reservation>> Dispatcher::FindReservation(
    const ReservationRecord& like) {
  Section section(this);
  SLIPWAY_ASSIGN_OR_RETURN(const absl::optional<v1::Reservation> earlier, EarlierReservation(like));
  SLIPWAY_RETURN_IF_ERROR(NotStoredYet(section.End()));
  return earlier;
}

absl::StatusOr<v1::Reservation> Dispatcher::Reserve(const Caller& caller,
                                                    ReservationRecord record) {
  Section section(this);
  SLIPWAY_ASSIGN_OR_RETURN(const absl::optional<v1::Reservation> earlier,
                           EarlierReservation(record));
  const v1::Reservation made = earlier.has_value() ? *earlier : record.reservation();
  if (!earlier.has_value()) {
    SLIPWAY_RETURN_IF_ERROR(CheckReservation(caller, record));
    Log(LogLevel::kInfo, "device reserved",
        {{"id", made.id()}, {"device", made.device()}, {"owner", made.owner()}});
    writer_.PutReservation(record);
    reservations_.Put(std::move(record));
    LookAgainAt(made.device());
    Schedule();
  }
  SLIPWAY_RETURN_IF_ERROR(NotStoredYet(section.End()));
  return made;
}

std::vector<v1::Reservation> Dispatcher::OpenReservations(const Caller& caller,
                                                          absl::string_view device) {
  // Told of what is stored alone.
  Section section(this);
  std::vector<v1::Reservation> shown;
  for (const v1::Reservation* reservation : reservations_.Open(parts_.clock->Now())) {
    if (device.empty() || reservation->device() == device) {
      shown.push_back(Show(*reservation, caller));
    }
  }
  return shown;
}

absl::StatusOr<v1::Reservation> Dispatcher::Unreserve(const Caller& caller, absl::string_view id) {
  Section section(this);
  const ReservationRecord* const known = reservations_.Find(id);
  if (known == nullptr || !MayTouch(caller, known->reservation().owner())) {
    return NoSuchReservation(id);
  }
  ReservationRecord record = *known;
  const v1::Reservation reservation = record.reservation();
  const absl::Time now = parts_.clock->Now();
  if (!HasEnded(record, now)) {
    record.set_cancel_time_ns(absl::ToUnixNanos(now));
    record.set_cancelled_by(absl::StrCat(caller.owner, " at ", caller.address));
    writer_.PutReservation(record);
    reservations_.Put(std::move(record));
    LookAgainAt(reservation.device());
    Schedule();
  }
  SLIPWAY_RETURN_IF_ERROR(NotStoredYet(section.End()));
  return reservation;
}

void Dispatcher::PassEdges() {
  const absl::Time now = parts_.clock->Now();
  const absl::Time last = std::exchange(edges_passed_, now);
  const absl::optional<absl::Time> edge = reservations_.NextEdge(std::min(last, now));
  // Where the clock was set back, what had begun may not have.
  if (now >= last && (!edge.has_value() || *edge > now)) return;
  for (const std::string& device : reservations_.Devices()) LookAgainAt(device);
}

void Dispatcher::ForgetReservations() {
  for (const std::string& id : reservations_.Forget(parts_.clock->Now())) {
    writer_.DeleteReservation(id);
  }
}

}  // namespace slipway::server
