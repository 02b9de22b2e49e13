#include "server/handlers/new_job.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "core/identity/role.h"
#include "core/wire/digest_proto.h"
#include "server/jobs/job_store.h"
#include "server/limits.h"
#include "server/names.h"

namespace slipway::server {
namespace {

absl::Status CheckDeadline(absl::string_view name, int64_t deadline_ns) {
  if (deadline_ns >= 0 && absl::Nanoseconds(deadline_ns) <= kMaxDeadline) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      name, " is ", deadline_ns, "; 0 to ", absl::ToInt64Nanoseconds(kMaxDeadline), " wanted"));
}

int64_t OrDefault(int64_t deadline_ns, absl::Duration otherwise) {
  return deadline_ns != 0 ? deadline_ns : absl::ToInt64Nanoseconds(otherwise);
}

}  // namespace

absl::Status CheckJobRequest(const Caller& caller, const Environment& env,
                             const JobRequest& request) {
  SLIPWAY_RETURN_IF_ERROR(CheckRequestId(request.request_id));
  SLIPWAY_RETURN_IF_ERROR(CheckDeadline("queue_deadline_ns", request.queue_deadline_ns));
  SLIPWAY_RETURN_IF_ERROR(CheckDeadline("run_deadline_ns", request.run_deadline_ns));
  SLIPWAY_RETURN_IF_ERROR(CheckDeadline("total_deadline_ns", request.total_deadline_ns));
  if (request.priority < -kMaxPriority || request.priority > kMaxPriority) {
    return absl::InvalidArgumentError(absl::StrCat("priority is ", request.priority, "; ",
                                                   -kMaxPriority, " to ", kMaxPriority, " wanted"));
  }
  // Whoever has most of all priorities would keep all others waiting for as long as he likes.
  if (request.priority > env.limits.max_user_priority && !caller.roles.Has(Role::kAdmin)) {
    return absl::PermissionDeniedError(absl::StrCat(
        "priority is ", request.priority, ", and users may ask for ", env.limits.max_user_priority,
        " at most (--max-user-priority of the server): ask for less, or an administrator"));
  }
  return absl::OkStatus();
}

std::string WorkDigest(absl::string_view kind, std::string serialized) {
  return Digest::Of(absl::StrCat(kind, "\n", serialized)).hex();
}

absl::StatusOr<absl::optional<std::string>> FindEarlier(const Caller& caller,
                                                        const Environment& env,
                                                        const JobRequest& request) {
  SLIPWAY_ASSIGN_OR_RETURN(absl::optional<JobRecord> earlier,
                           env.jobs->FindRequest(caller.owner, request.request_id));
  if (!earlier.has_value()) {
    SLIPWAY_RETURN_IF_ERROR(env.memory->MayBegin());
    return absl::optional<std::string>();
  }
  SLIPWAY_RETURN_IF_ERROR(CheckSameWork(*earlier, request.work_digest));
  return absl::optional<std::string>(earlier->job().id());
}

std::string ShortSubject(absl::string_view text) {
  constexpr absl::string_view kMore = "...";
  std::string subject(
      text.size() <= kMaxSubjectBytes ? text : Utf8Prefix(text, kMaxSubjectBytes - kMore.size()));
  if (subject.size() < text.size()) absl::StrAppend(&subject, kMore);
  for (char& c : subject) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  return subject;
}

JobRecord NewRecord(const Caller& caller, const Environment& env, const JobRequest& request,
                    absl::string_view subject, absl::Span<const Digest> blobs) {
  const absl::Time now = env.clock->Now();
  JobRecord record;
  v1::Job& job = *record.mutable_job();
  job.set_id(env.ids->Next(now));
  job.set_owner(caller.owner);
  job.set_request_id(request.request_id);
  job.set_state(v1::Job::QUEUED);
  job.set_priority(request.priority);
  job.set_subject(ShortSubject(subject));
  *job.mutable_tags() = ToProto(request.tags);
  job.set_create_time_ns(absl::ToUnixNanos(now));
  v1::JobDeadlines& deadlines = *job.mutable_deadlines();
  deadlines.set_queue_ns(OrDefault(request.queue_deadline_ns, env.limits.queue_deadline));
  deadlines.set_run_ns(OrDefault(request.run_deadline_ns, env.limits.run_deadline));
  deadlines.set_total_ns(OrDefault(request.total_deadline_ns, env.limits.total_deadline));
  record.set_work_digest(request.work_digest);
  record.set_queued_time_ns(absl::ToUnixNanos(now));
  for (const Digest& digest : blobs) *record.add_blobs() = ToProto(digest);
  return record;
}

}  // namespace slipway::server
