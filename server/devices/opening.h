// Opening: what of the work that waits a device may be given now, by what was decided about it and who reserved it. Pure.
#ifndef SLIPWAY_SERVER_DEVICES_OPENING_H_
#define SLIPWAY_SERVER_DEVICES_OPENING_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "server/devices/device_record.pb.h"
#include "server/devices/reservations.h"

namespace slipway::server {

struct Opening {
  // From when on others' work may not run.
  struct Begin {
    std::string owner;  // But his may.
    absl::Duration in;
  };
  bool is_closed = false;
  absl::optional<std::string> only;  // This owner's work alone.
  absl::optional<Begin> first;
  absl::optional<Begin> second;  // Of another owner than `first`, and later.

  bool is_free() const { return !is_closed && !only.has_value() && !first.has_value(); }
  // Whether the device may be given work of `owner`, at all and if it takes no time; and what takes so long.
  bool Admits(absl::string_view owner) const {
    return !is_closed && (!only.has_value() || *only == owner);
  }
  bool Admits(absl::string_view owner, absl::Duration longest) const {
    return Admits(owner) && longest <= Longest(owner);
  }

 private:
  absl::Duration Longest(absl::string_view owner) const {
    if (first.has_value() && first->owner != owner) return first->in;
    if (second.has_value() && second->owner != owner) return second->in;
    return absl::InfiniteDuration();
  }
};

// `standing` may be null. Work may run up to its deadline, and for kRunDeadlineGrace more.
Opening OpeningOf(const DeviceStanding* standing, const Reservations::Ahead& reserved,
                  absl::Time now);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_DEVICES_OPENING_H_
