#include "server/jobs/shown_lease.h"

#include <algorithm>

namespace slipway::server {

v1::Lease::Kind LeaseKindOf(const v1::Job& job) {
  switch (job.spec_case()) {
    case v1::Job::kCompilation:
      return v1::Lease::COMPILATION;
    case v1::Job::kRun:
      return v1::Lease::RUN;
    case v1::Job::kBenchmark:
      return v1::Lease::BENCHMARK;
    case v1::Job::kSession:
      return v1::Lease::SESSION;
    default:
      return v1::Lease::KIND_UNSPECIFIED;
  }
}

v1::Lease ShowLease(const JobRecord& record, bool is_named) {
  v1::Lease lease;
  if (is_named && !record.is_probe()) lease.set_job_id(record.job().id());
  lease.set_kind(LeaseKindOf(record.job()));
  lease.set_purpose(record.is_probe() ? "probe" : record.job().session().purpose());
  lease.set_owner(record.job().owner());
  lease.set_since_ns(record.lease().begin_time_ns());
  lease.set_until_ns(record.lease().begin_time_ns() + record.lease().deadline_ns());
  lease.set_idle_ns(record.job().session().idle_ns());
  if (const int64_t since = record.lease().silent_since_ns(); since > 0) {
    lease.set_idle_until_ns(std::min(since + lease.idle_ns(), lease.until_ns()));
  }
  return lease;
}

}  // namespace slipway::server
