#include "server/devices/reservations.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/limits.h"

namespace slipway::server {
namespace {

std::string InUtc(int64_t time_ns) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", absl::FromUnixNanos(time_ns),
                          absl::UTCTimeZone());
}

// When it was over.
absl::Time EndOf(const ReservationRecord& record) {
  const absl::Time until = absl::FromUnixNanos(record.reservation().until_ns());
  if (record.cancel_time_ns() == 0) return until;
  return std::min(until, absl::FromUnixNanos(record.cancel_time_ns()));
}

}  // namespace

bool HasEnded(const ReservationRecord& record, absl::Time now) {
  return record.cancel_time_ns() != 0 ||
         absl::FromUnixNanos(record.reservation().until_ns()) <= now;
}

void Reservations::Put(ReservationRecord record) {
  const v1::Reservation& reservation = record.reservation();
  const std::string id = reservation.id();
  Erase(id);
  by_request_[{reservation.owner(), record.request_id()}] = id;
  by_owner_[reservation.owner()].insert(id);
  if (record.cancel_time_ns() == 0) {
    by_device_[reservation.device()].insert({reservation.from_ns(), id});
    edges_.insert(reservation.from_ns());
    edges_.insert(reservation.until_ns());
  }
  records_[id] = std::move(record);
}

void Reservations::Erase(const std::string& id) {
  const auto it = records_.find(id);
  if (it == records_.end()) return;
  const v1::Reservation& reservation = it->second.reservation();
  if (it->second.cancel_time_ns() == 0) {
    const auto device = by_device_.find(reservation.device());
    device->second.erase({reservation.from_ns(), id});
    if (device->second.empty()) by_device_.erase(device);
    edges_.erase(edges_.find(reservation.from_ns()));
    edges_.erase(edges_.find(reservation.until_ns()));
  }
  by_request_.erase({reservation.owner(), it->second.request_id()});
  const auto owner = by_owner_.find(reservation.owner());
  owner->second.erase(id);
  if (owner->second.empty()) by_owner_.erase(owner);
  records_.erase(it);
}

const ReservationRecord* Reservations::Find(absl::string_view id) const {
  const auto it = records_.find(id);
  return it == records_.end() ? nullptr : &it->second;
}

const ReservationRecord* Reservations::FindRequest(absl::string_view owner,
                                                   absl::string_view request_id) const {
  const auto it = by_request_.find({std::string(owner), std::string(request_id)});
  return it == by_request_.end() ? nullptr : Find(it->second);
}

absl::Status Reservations::CheckFree(const v1::Reservation& wanted) const {
  const auto device = by_device_.find(wanted.device());
  if (device == by_device_.end()) return absl::OkStatus();
  const Begins& begins = device->second;
  const v1::Reservation* overlapping = nullptr;
  const auto next = begins.lower_bound({wanted.from_ns(), ""});
  if (next != begins.end() && next->first < wanted.until_ns()) overlapping = &At(next->second);
  if (next != begins.begin()) {
    const v1::Reservation& before = At(std::prev(next)->second);
    if (before.until_ns() > wanted.from_ns()) overlapping = &before;
  }
  if (overlapping == nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("device '", wanted.device(), "' is reserved for ", overlapping->owner(),
                   " from ", InUtc(overlapping->from_ns()), " to ", InUtc(overlapping->until_ns()),
                   ": choose another time or device"));
}

Reservations::Ahead Reservations::Of(absl::string_view device, absl::Time now) const {
  Ahead ahead;
  const auto found = by_device_.find(device);
  if (found == by_device_.end()) return ahead;
  const Begins& begins = found->second;
  const int64_t now_ns = absl::ToUnixNanos(now);
  auto next = begins.lower_bound({now_ns + 1, ""});
  if (next != begins.begin()) {
    const v1::Reservation& last = At(std::prev(next)->second);
    if (last.until_ns() > now_ns) ahead.now = &last;
  }
  if (next == begins.end()) return ahead;
  ahead.next = &At(next->second);
  while (++next != begins.end()) {
    const v1::Reservation& later = At(next->second);
    if (later.owner() == ahead.next->owner()) continue;
    ahead.next_of_another = &later;
    break;
  }
  return ahead;
}

std::vector<const v1::Reservation*> Reservations::Open(absl::Time now) const {
  std::vector<const v1::Reservation*> open;
  for (const auto& [id, record] : records_) {
    if (!HasEnded(record, now)) open.push_back(&record.reservation());
  }
  std::sort(open.begin(), open.end(), [](const v1::Reservation* a, const v1::Reservation* b) {
    return std::pair(a->from_ns(), absl::string_view(a->device())) <
           std::pair(b->from_ns(), absl::string_view(b->device()));
  });
  return open;
}

int64_t Reservations::OpenOf(absl::string_view owner, absl::Time now) const {
  const auto it = by_owner_.find(owner);
  if (it == by_owner_.end()) return 0;
  return std::count_if(it->second.begin(), it->second.end(),
                       [&](const std::string& id) { return !HasEnded(records_.at(id), now); });
}

int64_t Reservations::OpenOfAll(absl::Time now) const {
  return std::count_if(records_.begin(), records_.end(),
                       [&](const auto& entry) { return !HasEnded(entry.second, now); });
}

absl::optional<absl::Time> Reservations::NextEdge(absl::Time now) const {
  const auto it = edges_.upper_bound(absl::ToUnixNanos(now));
  if (it == edges_.end()) return absl::nullopt;
  return absl::FromUnixNanos(*it);
}

std::vector<std::string> Reservations::Devices() const {
  std::vector<std::string> devices;
  for (const auto& [device, begins] : by_device_) devices.push_back(device);
  return devices;
}

std::vector<std::string> Reservations::Forget(absl::Time now) {
  std::vector<std::string> forgotten;
  for (const auto& [owner, ids] : by_owner_) {
    auto beyond = static_cast<int64_t>(ids.size()) - kMaxKeptReservationsOfOwner;
    for (const std::string& id : ids) {
      const ReservationRecord& record = records_.at(id);
      const bool is_old = EndOf(record) + kReservationRetention <= now;
      if (!HasEnded(record, now) || !(is_old || beyond > 0)) continue;
      forgotten.push_back(id);
      --beyond;
    }
  }
  for (const std::string& id : forgotten) Erase(id);
  return forgotten;
}

}  // namespace slipway::server
