// LiveJobs: the jobs that have not ended, in memory, found by everything the dispatcher looks for.
#ifndef SLIPWAY_SERVER_JOBS_LIVE_JOBS_H_
#define SLIPWAY_SERVER_JOBS_LIVE_JOBS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "core/base/digest.h"
#include "server/jobs/job_record.pb.h"
#include "server/jobs/job_state.h"
#include "server/scheduler/scheduler.h"

namespace slipway::server {

// A job that has not ended.
struct LiveJob {
  JobRecord record;
  // What it waits for, or has. For a compilation as long as its compiler is not another one. None if its target
  // or selector cannot be parsed: such a job waits for nothing, until its deadline.
  absl::optional<Need> need;
};

// What a job that waits needs, as sums tell it apart.
enum class NeedKind { kWorker, kNamedDevice, kAnyDevice };  // The last: of a selector, too.
inline constexpr size_t kNeedKinds = 3;

// Not thread-safe. Pointers and references are valid until the next Put.
class LiveJobs {
 public:
  using Ids = absl::btree_set<std::string>;

  // Takes in a new job or the next record of a known one; one that has ended is let go.
  void Put(JobRecord record);
  void Forget(absl::string_view id);

  // nullptr when it is not live.
  const LiveJob* Find(absl::string_view id) const;

  // Those that wait.
  const WaitingJobs& waiting() const { return waiting_; }
  // Lets those wait in earnest whose time has come.
  void Release(absl::Time now) { waiting_.Release(now); }
  // WaitingJobs::TakeEntered.
  std::vector<Need> TakeEntered() { return waiting_.TakeEntered(); }
  std::vector<std::string> QueuedCompilations() const;
  // How many jobs of each owner have a device or a place on a worker.
  const HeldByOwner& held() const { return held_; }

  // Jobs that share an attempt.
  std::vector<std::string> JobsOfAttempt(absl::string_view attempt_id) const;
  // Attempts an agent or worker has, by "agent/ID" or "worker/ID".
  std::vector<std::string> AttemptsOf(absl::string_view holder) const;
  // Agents and workers that have attempts.
  std::vector<std::string> Holders() const;
  // Live compilations of a group, in the order of acceptance. Empty for the group "".
  std::vector<std::string> JobsOfGroup(absl::string_view group) const;
  // Compilations that have not ended, those of one group counted once.
  int CompilationsWanted() const;

  // The job whose deadline is next.
  struct Due {
    absl::Time time;
    std::string id;
  };
  absl::optional<Due> NextDeadline() const;
  // Blobs that live jobs need.
  absl::flat_hash_set<Digest> NeededBlobs() const;

  int64_t size() const { return static_cast<int64_t>(jobs_.size()); }
  // How many there are of a kind in a state.
  int64_t CountOf(v1::Job::Kind kind, v1::Job::State state) const;
  // How many wait for such, and which of them was accepted first; empty: none. The latter looks at every job before it.
  int64_t WaitingFor(NeedKind need) const { return waiting_for_[static_cast<size_t>(need)]; }
  std::string FirstWaitingFor(NeedKind need) const;
  // Memory that the records take, about.
  int64_t size_bytes() const { return size_bytes_; }
  int64_t bytes_of_owner(absl::string_view owner) const;
  // How long an owner's jobs that are here have held workers or devices until `now`.
  absl::Duration HeldTime(absl::string_view owner, HeldKind kind, absl::Time now) const;

 private:
  // Of an owner's jobs: those that hold something, since when, in sum; and what all have held before.
  struct HeldSum {
    int64_t holding = 0;
    absl::Duration since;  // Since 1970.
    absl::Duration before;
  };
  // Counts a job, or, by -1, counts it no more.
  void SumHeld(const JobRecord& record, int sign);
  void Index(const LiveJob& job);
  void Unindex(const LiveJob& job);
  // Counts a job, or, by -1, counts it no more.
  void Sum(const LiveJob& job, int sign);

  absl::btree_map<std::string, LiveJob> jobs_;
  WaitingJobs waiting_;
  HeldByOwner held_;
  absl::btree_map<std::string, Ids> by_attempt_;
  absl::btree_map<std::string, Ids> by_holder_;  // Attempts.
  absl::btree_map<std::string, Ids> by_group_;
  absl::btree_set<std::pair<absl::Time, std::string>> deadlines_;
  int64_t ungrouped_compilations_ = 0;
  int64_t size_bytes_ = 0;
  absl::btree_map<std::pair<v1::Job::Kind, v1::Job::State>, int64_t> sums_;  // None is 0.
  std::array<int64_t, kNeedKinds> waiting_for_ = {};
  absl::btree_map<std::string, int64_t> bytes_of_owner_;  // None is 0.
  absl::btree_map<std::pair<std::string, HeldKind>, HeldSum> held_time_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_JOBS_LIVE_JOBS_H_
