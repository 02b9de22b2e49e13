#include "server/devices/opening.h"

#include "server/limits.h"
#include "server/names.h"

namespace slipway::server {

Opening OpeningOf(const DeviceStanding* standing, const Reservations::Ahead& reserved,
                  absl::Time now) {
  Opening opening;
  const auto state = standing == nullptr ? DeviceStanding::OPEN : standing->state();
  opening.is_closed = state == DeviceStanding::DRAINED;
  const auto begin = [now](const v1::Reservation& reservation) {
    return Opening::Begin{
        .owner = reservation.owner(),
        .in = absl::FromUnixNanos(reservation.from_ns()) - now - kRunDeadlineGrace};
  };
  if (reserved.now != nullptr) opening.only = reserved.now->owner();
  // Probes alone.
  if (state == DeviceStanding::QUARANTINED) opening.only = kServerOwner;
  if (reserved.next != nullptr) opening.first = begin(*reserved.next);
  if (reserved.next_of_another != nullptr) opening.second = begin(*reserved.next_of_another);
  return opening;
}

}  // namespace slipway::server
