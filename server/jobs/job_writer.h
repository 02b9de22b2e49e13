// JobWriter: brings to the stores what was changed in memory, everything that waits in one transaction.
//
// Whoever must not go on before something is stored flushes. The first who does stores what all have entered, the
// others wait for that: under load many changes share a transaction, and many new jobs one wait for the disk; a
// change alone takes no thread switch.
#ifndef SLIPWAY_SERVER_JOBS_JOB_WRITER_H_
#define SLIPWAY_SERVER_JOBS_JOB_WRITER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/optional.h"
#include "core/base/clock.h"
#include "core/metrics/histogram.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "server/devices/device_store.h"
#include "server/jobs/job_store.h"

namespace slipway::server {

// Thread-safe.
class JobWriter {
 public:
  // Counts what was entered.
  using Mark = int64_t;
  // Told, with no lock held, that a job was changed by somebody else, who was first: what is stored of it, if
  // anything is. The changes that were entered here should be dropped.
  using Overtaken = std::function<void(absl::string_view id, absl::optional<JobRecord> stored)>;
  // The same of a device's standing.
  using StandingOvertaken = std::function<void(DeviceStanding stored)>;

  // The stores and the clock must outlive this.
  JobWriter(JobStore* jobs, DeviceStore* devices, Overtaken overtaken, const Clock* clock,
            StandingOvertaken standing_overtaken = nullptr);

  // Stores a new job, durably; waits for it. Errors of JobStore::Commit, and the outcome's.
  struct Created {
    JobRecord record;
    bool existed = false;  // The request made `record` before.
  };
  absl::StatusOr<Created> Create(JobRecord record);

  // Enter a change, which waits for the next flush; they never wait themselves. Of several changes of one job the
  // last is stored.
  void Put(JobStore::Change change);
  void PutDevice(const v1::Device& device);
  void DeleteDevice(const std::string& id);
  // Of a standing in place of that of revision `replaces`, 0: of none.
  void PutStanding(const DeviceStanding& standing, int64_t replaces);
  void PutReservation(const ReservationRecord& record);
  void DeleteReservation(const std::string& id);
  // Drops what waits of a job.
  void Drop(absl::string_view id);

  // Everything entered so far.
  Mark entered() const;
  // Waits until everything up to `mark` is stored. On an error of the store what is not stored waits on, and the
  // next flush tries again.
  absl::Status Flush(Mark mark);

  // The last error of the stores; OK when they have taken something since.
  absl::Status refusal() const;
  // Finds out whether they would take something, by writing next to nothing, when nothing waits.
  void TryStore();

  // Of transactions since this was made.
  struct Tally {
    DurationHistogram stored{kAnswerBounds};  // How long those took that were stored.
    std::atomic<int64_t> refused = 0;
  };
  const Tally& tally() const { return tally_; }

 private:
  // A job that Create waits for.
  struct NewJob {
    JobRecord record;
    absl::optional<absl::StatusOr<Created>> end;
  };
  struct StandingChange {
    DeviceStanding standing;
    int64_t replaces = 0;
  };
  struct Group {
    absl::btree_map<std::string, JobStore::Change> changes;            // By job.
    absl::btree_map<std::string, absl::optional<v1::Device>> devices;  // nullopt: to be deleted.
    absl::btree_map<std::string, StandingChange> standings;            // By device.
    absl::btree_map<std::string, absl::optional<ReservationRecord>> reservations;  // As devices.
    std::vector<NewJob*> new_jobs;
  };

  // Stores what waits now. Releases the lock meanwhile.
  absl::Status WriteGroup() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // With no lock held. Take out of the group what has been stored; `ends` are those of the new jobs, unless
  // the group failed.
  absl::Status WriteJobs(Group& group, std::vector<absl::StatusOr<Created>>& ends);
  // What is left of the changes replaced what was not stored any more.
  absl::Status TellOvertaken(Group& group);
  absl::Status WriteDevices(Group& group);
  absl::Status WriteStanding(const StandingChange& change);

  JobStore& jobs_;
  DeviceStore& devices_;
  const Overtaken overtaken_;
  const StandingOvertaken standing_overtaken_;
  const Clock& clock_;
  Tally tally_;

  mutable absl::Mutex mu_;
  absl::CondVar written_;
  bool is_writing_ ABSL_GUARDED_BY(mu_) = false;  // Somebody is in WriteGroup.
  Group waiting_ ABSL_GUARDED_BY(mu_);
  Mark entered_ ABSL_GUARDED_BY(mu_) = 0;
  Mark stored_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Status refusal_ ABSL_GUARDED_BY(mu_);
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_JOBS_JOB_WRITER_H_
