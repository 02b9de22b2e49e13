// Reservations: who has which device to himself when.
//
// They are of the wall clock, as people mean them. One that has ended or was given up is known for kReservationRetention more,
// so that a clock that jumps ahead and back has lost none.
#ifndef SLIPWAY_SERVER_DEVICES_RESERVATIONS_H_
#define SLIPWAY_SERVER_DEVICES_RESERVATIONS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "server/devices/device_record.pb.h"

namespace slipway::server {

// Not thread-safe. References are valid until the next change.
class Reservations {
 public:
  // Takes one in, new or changed.
  void Put(ReservationRecord record);

  // nullptr when there is none.
  const ReservationRecord* Find(absl::string_view id) const;
  // The one that a request made.
  const ReservationRecord* FindRequest(absl::string_view owner, absl::string_view request_id) const;

  // FAILED_PRECONDITION, naming whose and when, if one of the device overlaps.
  absl::Status CheckFree(const v1::Reservation& wanted) const;

  // What of a device's is or comes.
  struct Ahead {
    const v1::Reservation* now = nullptr;
    const v1::Reservation* next = nullptr;
    // The first behind `next` that is another owner's than that.
    const v1::Reservation* next_of_another = nullptr;
  };
  Ahead Of(absl::string_view device, absl::Time now) const;

  // Those that have not ended, by their begin.
  std::vector<const v1::Reservation*> Open(absl::Time now) const;
  // How many of these there are: of an owner, of all.
  int64_t OpenOf(absl::string_view owner, absl::Time now) const;
  int64_t OpenOfAll(absl::Time now) const;

  // When the next one begins or ends.
  absl::optional<absl::Time> NextEdge(absl::Time now) const;
  // The devices that have one.
  std::vector<std::string> Devices() const;

  // Forgets those that ended, or were given up, long ago; and of an owner's more than kMaxKeptReservations the oldest of
  // these. Returns their ids.
  std::vector<std::string> Forget(absl::Time now);

  int64_t size() const { return static_cast<int64_t>(records_.size()); }

 private:
  using Begins = absl::btree_set<std::pair<int64_t, std::string>>;  // Begins and ids.

  void Erase(const std::string& id);
  const v1::Reservation& At(const std::string& id) const { return records_.at(id).reservation(); }

  absl::btree_map<std::string, ReservationRecord> records_;
  // The next two of those that were not given up.
  absl::flat_hash_map<std::string, Begins> by_device_;
  absl::btree_multiset<int64_t> edges_;  // Begins and ends.
  absl::flat_hash_map<std::pair<std::string, std::string>, std::string> by_request_;
  absl::btree_map<std::string, absl::btree_set<std::string>> by_owner_;  // All; ids sort by age.
};

// Whether it is over, by its end or because it was given up.
bool HasEnded(const ReservationRecord& record, absl::Time now);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_DEVICES_RESERVATIONS_H_
