// UsedTime: how long jobs that have ended have held a device or a place on a worker, by owner, over a window that slides.
#ifndef SLIPWAY_SERVER_JOBS_USED_TIME_H_
#define SLIPWAY_SERVER_JOBS_USED_TIME_H_

#include <cstdint>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace slipway::server {

// Not thread-safe. Times are kept in parts of the window, so that they leave it some 1/100 of it late at most.
class UsedTime {
 public:
  explicit UsedTime(absl::Duration window) : part_(window / kParts) {}

  // A job of the owner's has ended then and had held something for so long.
  void Add(absl::string_view owner, absl::Time end, absl::Duration held);
  // Within the window before `now`.
  absl::Duration Of(absl::string_view owner, absl::Time now) const;
  // When it will be less than `limit`, if nothing is added; `now` when it is, infinite when it cannot be.
  absl::Time WhenBelow(absl::string_view owner, absl::Duration limit, absl::Time now) const;
  // Lets go of what has left the window.
  void Forget(absl::Time now);

 private:
  static constexpr int64_t kParts = 100;
  using Parts = absl::btree_map<int64_t, absl::Duration>;  // By number of the part.

  int64_t PartOf(absl::Time time) const;
  // The first part that is within the window.
  int64_t FirstAt(absl::Time now) const { return PartOf(now) - kParts; }

  const absl::Duration part_;
  absl::btree_map<std::string, Parts> of_owner_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_JOBS_USED_TIME_H_
