#include "server/jobs/used_time.h"

#include <iterator>

namespace slipway::server {

int64_t UsedTime::PartOf(absl::Time time) const {
  absl::Duration rest;
  return absl::IDivDuration(time - absl::UnixEpoch(), part_, &rest);
}

void UsedTime::Add(absl::string_view owner, absl::Time end, absl::Duration held) {
  if (held > absl::ZeroDuration()) of_owner_[std::string(owner)][PartOf(end)] += held;
}

absl::Duration UsedTime::Of(absl::string_view owner, absl::Time now) const {
  const auto found = of_owner_.find(std::string(owner));
  if (found == of_owner_.end()) return absl::ZeroDuration();
  absl::Duration all;
  const Parts& parts = found->second;
  for (auto it = parts.lower_bound(FirstAt(now)); it != parts.end(); ++it) all += it->second;
  return all;
}

absl::Time UsedTime::WhenBelow(absl::string_view owner, absl::Duration limit,
                               absl::Time now) const {
  absl::Duration left = Of(owner, now);
  if (left < limit) return now;
  // Never less than nothing.
  if (limit <= absl::ZeroDuration()) return absl::InfiniteFuture();
  const Parts& parts = of_owner_.find(std::string(owner))->second;
  auto it = parts.lower_bound(FirstAt(now));
  while ((left -= it->second) >= limit) ++it;
  return absl::UnixEpoch() + (it->first + kParts + 1) * part_;
}

void UsedTime::Forget(absl::Time now) {
  for (auto it = of_owner_.begin(); it != of_owner_.end();) {
    Parts& parts = it->second;
    parts.erase(parts.begin(), parts.lower_bound(FirstAt(now)));
    it = parts.empty() ? of_owner_.erase(it) : std::next(it);
  }
}

}  // namespace slipway::server
