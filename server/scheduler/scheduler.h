// The scheduler: who of those that wait gets what has come free. Decisions are pure.
//
// One rule for devices and compilers: higher priority first; of equal ones the owner who holds least; of those the
// one that was accepted first. A device that is reserved takes part for its owner alone, and one that will be takes what must
// end before: of an owner the first that was accepted, or, where that may take too long, the one that may take least.
#ifndef SLIPWAY_SERVER_SCHEDULER_SCHEDULER_H_
#define SLIPWAY_SERVER_SCHEDULER_SCHEDULER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "server/devices/device_need.h"
#include "server/devices/opening.h"
#include "server/scheduler/selector_index.h"
#include "server/workers/target_fingerprints.h"

namespace slipway::server {

// What a job that waits needs: a device, or a compiler.
struct CompilerNeed {
  std::string family;       // Of the target.
  std::string fingerprint;  // Of the compiler.
};
using Need = std::variant<DeviceNeed, CompilerNeed>;

// What somebody has to give.
using Supply = std::variant<DeviceSupply, TargetFingerprints>;

bool Fits(const Need& need, const Supply& supply);

// A job that waits.
struct WaitingJob {
  std::string id;  // Sorts by acceptance.
  std::string owner;
  int32_t priority = 0;  // Higher ones first.
  Need need;
  absl::Time not_before;                          // It takes no part before this.
  absl::Duration longest = absl::ZeroDuration();  // It may hold what it gets for so long.
};

// How many leases an owner holds.
using HeldByOwner = absl::flat_hash_map<std::string, int64_t>;

// The jobs that wait, found by what they need: a decision looks at the distinct needs that a supply could fit and at
// the owners who wait with them, not at every job. Not thread-safe.
class WaitingJobs {
 public:
  void Put(WaitingJob job);
  // Nothing when it does not wait.
  void Erase(absl::string_view id);

  // Lets those take part whose time has come.
  void Release(absl::Time now);
  // When the next job takes part that does not yet.
  absl::optional<absl::Time> NextRelease() const;

  // The id of the job that gets `supply`, which is open for some, if any.
  absl::optional<std::string> Pick(const Supply& supply, const HeldByOwner& held,
                                   const Opening& opening = Opening()) const;

  // The place of a job among those with the same need, if nobody came or went; 1 is next. 0 when it does not wait, or
  // takes no part yet. Looks at every job with that need.
  int64_t PositionOf(absl::string_view id, const HeldByOwner& held) const;

  // Jobs with one need that take part, in the order in which they get what comes free, if nobody came or went.
  struct LineOrder {
    Need need;
    std::vector<absl::string_view> ids;  // Until the next change.
  };
  // Every line there is. Looks at every job.
  std::vector<LineOrder> Order(const HeldByOwner& held) const;
  // Those that take no part yet, first who will first.
  std::vector<absl::string_view> Later() const;

  // Equal for equal needs.
  static std::string NameOfNeed(const Need& need);
  // nullptr when it does not wait.
  const WaitingJob* Find(absl::string_view id) const;
  bool Contains(absl::string_view id) const { return jobs_.contains(id); }
  int64_t size() const { return static_cast<int64_t>(jobs_.size()); }

  // The needs of the jobs that began to take part since this was last called, each once, as far as any of those that
  // wait for the same is still here.
  std::vector<Need> TakeEntered();
  // Whether anybody takes part who needs this.
  bool IsWanted(const Need& need) const;

 private:
  using Ids = absl::btree_set<std::string>;
  struct OwnersJobs {
    Ids ids;
    absl::btree_set<std::pair<absl::Duration, std::string>> by_longest;
  };
  using Owners = absl::btree_map<std::string, OwnersJobs>;
  // The jobs with one need.
  struct Line {
    Need need;
    absl::btree_map<int32_t, Owners, std::greater<int32_t>> by_priority;
  };
  // Lines by what they are called in the place they stand in.
  using Lines = absl::btree_map<std::string, Line>;

  struct Entry {
    WaitingJob job;
    bool takes_part = false;
  };

  // The place a need stands in: a device by name, devices by a selector, any device, a compiler.
  static std::string PlaceOf(const Need& need);
  // Equal within a place for equal needs.
  static std::string NameOf(const Need& need);
  // Where that stands that a supply could fit.
  std::vector<std::string> PlacesOf(const Supply& supply) const;

  const Line* FindLine(const std::string& place, const std::string& name) const;
  // Of an owner's jobs the one that is next for what is open for some, if any.
  absl::optional<absl::string_view> NextOf(const std::string& owner, const OwnersJobs& jobs,
                                           const Opening& opening) const;
  void Enter(const WaitingJob& job);
  void Leave(const WaitingJob& job);

  absl::btree_map<std::string, Entry> jobs_;
  absl::flat_hash_map<std::string, Lines> places_;
  // Of the places of selectors; what it has seen of devices is no state of the jobs.
  mutable SelectorIndex selectors_;
  absl::btree_set<std::pair<std::string, std::string>> entered_;  // Lines, each after its place.
  absl::btree_set<std::pair<absl::Time, std::string>> later_;     // Those that take no part yet.
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SCHEDULER_SCHEDULER_H_
