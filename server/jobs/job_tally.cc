#include "server/jobs/job_tally.h"

#include <algorithm>

#include "server/jobs/job_filter.h"

namespace slipway::server {
namespace {

void CountEnd(const v1::Job& job, JobTally::OfKind& kind) {
  const auto end = std::find(kEndStates.begin(), kEndStates.end(), job.state());
  if (end == kEndStates.end()) return;
  kind.ended[static_cast<size_t>(end - kEndStates.begin())].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void JobTally::Accepted(const v1::Job& job) {
  const v1::Job::Kind kind = KindOf(job);
  if (kind == v1::Job::KIND_UNSPECIFIED) return;
  OfKind& tally = kinds_[static_cast<size_t>(kind) - 1];
  tally.accepted.fetch_add(1, std::memory_order_relaxed);
  CountEnd(job, tally);
}

void JobTally::Moved(const JobRecord& from, const JobRecord& to, absl::Time now) {
  const v1::Job::Kind kind = KindOf(from.job());
  if (kind == v1::Job::KIND_UNSPECIFIED) return;
  OfKind& tally = kinds_[static_cast<size_t>(kind) - 1];
  if (from.job().state() == v1::Job::QUEUED && to.has_lease()) {
    tally.waits.Add(now - absl::FromUnixNanos(from.queued_time_ns()));
  }
  if (from.has_lease() && from.lease().id() != to.lease().id()) {
    tally.attempts.Add(now - absl::FromUnixNanos(from.lease().begin_time_ns()));
  }
  CountEnd(to.job(), tally);
}

}  // namespace slipway::server
