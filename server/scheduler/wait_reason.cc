#include "server/scheduler/wait_reason.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "server/devices/can_run.h"
#include "server/devices/opening.h"
#include "server/jobs/shown_lease.h"
#include "server/limits.h"

namespace slipway::server {
namespace {

using v1::WaitReason;

// Until a reservation ends that keeps it from the job.
void SetReservation(const v1::Reservation& reservation, WaitReason& reason) {
  *reason.mutable_reservation() = reservation;
  reason.set_until_ns(reservation.until_ns());
}

// Why a device that could run the job does not.
WaitReason ReasonAt(const DeviceView& device, const WaitingJob& job, absl::Time now) {
  WaitReason reason;
  reason.set_device(device.supply->device);
  const Opening opening = OpeningOf(device.standing, device.reserved, now);
  if (device.standing != nullptr && device.standing->state() != DeviceStanding::OPEN) {
    reason.set_kind(device.standing->state() == DeviceStanding::DRAINED ? WaitReason::DRAINED
                                                                        : WaitReason::QUARANTINED);
    reason.set_detail(device.standing->reason());
    reason.set_since_ns(device.standing->since_ns());
  } else if (device.is_lost) {
    reason.set_kind(WaitReason::LOST);
    reason.set_since_ns(absl::ToUnixNanos(device.last_seen));
  } else if (!opening.Admits(job.owner)) {
    reason.set_kind(WaitReason::RESERVED);
    SetReservation(*device.reserved.now, reason);
  } else if (!device.has_room) {
    reason.set_kind(WaitReason::HELD);
    if (device.holder != nullptr) {
      *reason.mutable_lease() = ShowLease(*device.holder, /*is_named=*/true);
      reason.set_until_ns(reason.lease().until_ns());
    }
  } else if (!opening.Admits(job.owner, job.longest)) {
    const v1::Reservation& next = *device.reserved.next;
    reason.set_kind(WaitReason::TOO_LONG);
    SetReservation(next.owner() != job.owner ? next : *device.reserved.next_of_another, reason);
  } else {
    reason.set_kind(WaitReason::NEXT);
  }
  return reason;
}

// The smallest will take the job first.
std::tuple<int, int64_t, std::string> RankOf(const WaitReason& reason) {
  const auto rank = [&]() -> std::pair<int, int64_t> {
    switch (reason.kind()) {
      case WaitReason::NEXT:
        return {0, 0};
      case WaitReason::HELD:
      case WaitReason::RESERVED:
      case WaitReason::TOO_LONG:
        return {1, reason.until_ns()};
      case WaitReason::QUARANTINED:
        return {2, 0};
      case WaitReason::DRAINED:
        return {3, 0};
      case WaitReason::LOST:
        return {4, -reason.since_ns()};
      default:
        return {5, 0};
    }
  };
  const auto [first, second] = rank();
  return {first, second, reason.device()};
}

WaitReason ReasonForDevice(const WaitingJob& job, const DeviceNeed& need, const FleetView& fleet,
                           absl::Time now) {
  absl::optional<WaitReason> best;
  int fitting = 0;
  const DeviceView* wrong = nullptr;
  for (const DeviceView& device : fleet.devices) {
    if (!Fits(job.need, *device.supply)) {
      if (wrong == nullptr || device.supply->device == need.device) wrong = &device;
      continue;
    }
    ++fitting;
    WaitReason reason = ReasonAt(device, job, now);
    if (!best.has_value() || RankOf(reason) < RankOf(*best)) best = std::move(reason);
  }
  if (best.has_value()) {
    best->set_fitting(fitting);
    return *best;
  }
  WaitReason reason;
  reason.set_kind(WaitReason::NO_DEVICE);
  reason.set_device(need.device);
  const bool is_one = !need.device.empty() && !need.selector.has_value();
  const bool is_known = wrong != nullptr && (!is_one || wrong->supply->device == need.device);
  if (need.selector.has_value()) {
    reason.set_detail(absl::StrCat("none of those that could matches '", need.device, "'"));
  } else if (is_known) {
    reason.set_detail(absl::StrCat("device '", wrong->supply->device, "': ",
                                   CheckCanRun(need.program, wrong->supply->offer).message()));
  } else {
    reason.set_detail(need.device.empty() ? "no device is known"
                                          : absl::StrCat("no device '", need.device, "' is known"));
  }
  return reason;
}

WaitReason ReasonForCompiler(const WaitingJob& job, const FleetView& fleet) {
  WaitReason reason;
  reason.set_kind(WaitReason::NO_WORKER);
  int fitting = 0;
  for (const WorkerView& worker : fleet.workers) {
    if (worker.is_lost || !Fits(job.need, *worker.targets)) continue;
    ++fitting;
    if (worker.has_room) {
      reason.set_kind(WaitReason::NEXT);
    } else if (reason.kind() == WaitReason::NO_WORKER) {
      reason.set_kind(WaitReason::WORKERS_BUSY);
    }
  }
  reason.set_fitting(fitting);
  return reason;
}

}  // namespace

v1::WaitReason ReasonOf(const WaitingJob& job, const FleetView& fleet, absl::Time now) {
  // As WaitingJobs::Release has it: a pause that is longer than any is none.
  if (job.not_before > now && job.not_before <= now + kLongestBackoff) {
    WaitReason reason;
    reason.set_kind(WaitReason::PAUSES);
    reason.set_until_ns(absl::ToUnixNanos(job.not_before));
    return reason;
  }
  if (const auto* need = std::get_if<DeviceNeed>(&job.need)) {
    return ReasonForDevice(job, *need, fleet, now);
  }
  return ReasonForCompiler(job, fleet);
}

void HideNames(const Caller& caller, v1::WaitReason& reason) {
  if (reason.has_lease() && !MayTouch(caller, reason.lease().owner())) {
    reason.mutable_lease()->clear_job_id();
  }
  if (reason.has_reservation() && !MayTouch(caller, reason.reservation().owner())) {
    reason.mutable_reservation()->clear_id();
  }
}

}  // namespace slipway::server
