#include "server/jobs/job_filter.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "core/wire/tag_proto.h"

namespace slipway::server {
namespace {

template <typename Value>
bool IsAmong(const std::vector<Value>& values, Value value) {
  return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
}

// The device that a job asks for; empty: any.
const std::string& DeviceAskedFor(const v1::Job& job) {
  if (job.has_benchmark()) return job.benchmark().run().device();
  return job.has_session() ? job.session().device() : job.run().device();
}

}  // namespace

v1::Job::Kind KindOf(const v1::Job& job) {
  switch (job.spec_case()) {
    case v1::Job::kCompilation:
      return v1::Job::COMPILATION;
    case v1::Job::kRun:
      return v1::Job::RUN;
    case v1::Job::kBenchmark:
      return v1::Job::BENCHMARK;
    case v1::Job::kSession:
      return v1::Job::SESSION;
    case v1::Job::SPEC_NOT_SET:
      break;
  }
  return v1::Job::KIND_UNSPECIFIED;
}

bool MayMatch(const JobFilter& filter, const v1::Job& job) {
  if (!filter.of_everybody && job.owner() != filter.owner) return false;
  if (!filter.before_id.empty() && job.id() >= filter.before_id) return false;
  if (!IsAmong(filter.states, job.state()) || !HasTags(job.tags(), filter.tags)) return false;
  if (absl::FromUnixNanos(job.create_time_ns()) < filter.since) return false;
  if (!filter.device.empty() && !job.assignee().empty() && job.assignee() != filter.device) {
    return false;
  }
  return absl::StrContains(absl::AsciiStrToLower(job.subject()),
                           absl::AsciiStrToLower(filter.subject));
}

bool Matches(const JobFilter& filter, const v1::Job& job) {
  if (!MayMatch(filter, job) || !IsAmong(filter.kinds, KindOf(job))) return false;
  return filter.device.empty() || job.assignee() == filter.device ||
         DeviceAskedFor(job) == filter.device;
}

}  // namespace slipway::server
