// JobTally: how many jobs came and ended, and how long they waited and were worked on, since the server began.
#ifndef SLIPWAY_SERVER_JOBS_JOB_TALLY_H_
#define SLIPWAY_SERVER_JOBS_JOB_TALLY_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/metrics/histogram.h"
#include "server/jobs/job_kind.h"
#include "server/jobs/job_record.pb.h"

namespace slipway::server {

// How jobs end, as metrics name it.
inline constexpr std::array<v1::Job::State, 3> kEndStates = {v1::Job::SUCCEEDED, v1::Job::FAILED,
                                                             v1::Job::CANCELLED};

// Thread-safe; waits for nobody.
class JobTally {
 public:
  struct OfKind {
    std::atomic<int64_t> accepted = 0;
    std::array<std::atomic<int64_t>, kEndStates.size()> ended = {};  // In the order of kEndStates.
    DurationHistogram waits{
        kJobBounds};  // From when it came into the queue until it was given away.
    DurationHistogram attempts{kJobBounds};  // For how long an attempt had it, whatever came of it.
  };

  // A job that may have ended at once.
  void Accepted(const v1::Job& job);
  // The next record of one. `now` is that of its event.
  void Moved(const JobRecord& from, const JobRecord& to, absl::Time now);

  // REQUIRES: one of kJobKinds.
  const OfKind& of(v1::Job::Kind kind) const { return kinds_[static_cast<size_t>(kind) - 1]; }

 private:
  std::array<OfKind, kJobKinds.size()> kinds_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_JOBS_JOB_TALLY_H_
