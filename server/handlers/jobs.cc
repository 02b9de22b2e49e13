#include "server/handlers/jobs.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/wire/tag_proto.h"
#include "server/handlers/list_request.h"
#include "server/jobs/job_store.h"
#include "server/limits.h"
#include "server/names.h"

namespace slipway::server {

absl::StatusOr<v1::Job> ReadJob(const Caller& caller, const Environment& env,
                                absl::string_view id) {
  SLIPWAY_RETURN_IF_ERROR(CheckJobId(id));
  SLIPWAY_ASSIGN_OR_RETURN(JobRecord record, env.jobs->Get(id));
  if (!MayTouch(caller, record.job().owner())) return NoSuchJob(id);
  if (record.job().state() == v1::Job::QUEUED) {
    env.dispatcher->ShowWaiting(caller, record.mutable_job());
  }
  return std::move(*record.mutable_job());
}

absl::Status GetJob(const Caller& caller, const Environment& env, const v1::GetJobRequest& request,
                    v1::Job* response) {
  SLIPWAY_ASSIGN_OR_RETURN(*response, ReadJob(caller, env, request.id()));
  return absl::OkStatus();
}

namespace {

absl::StatusOr<JobFilter> FilterOf(const Caller& caller, const v1::ListJobsRequest& request) {
  JobFilter filter;
  SLIPWAY_ASSIGN_OR_RETURN(filter.owner,
                           OwnerListed(caller, "jobs", request.owner(), request.of_everybody()));
  filter.of_everybody = filter.owner.empty();
  filter.before_id = request.page_token();
  if (!filter.before_id.empty())
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckJobId(filter.before_id), "page_token");
  for (int state : request.states()) {
    if (!v1::Job::State_IsValid(state) || state == v1::Job::STATE_UNSPECIFIED) {
      return absl::InvalidArgumentError(absl::StrCat("state ", state, " is unknown"));
    }
    filter.states.push_back(static_cast<v1::Job::State>(state));
  }
  for (int kind : request.kinds()) {
    if (!v1::Job::Kind_IsValid(kind) || kind == v1::Job::KIND_UNSPECIFIED) {
      return absl::InvalidArgumentError(absl::StrCat("kind ", kind, " is unknown"));
    }
    filter.kinds.push_back(static_cast<v1::Job::Kind>(kind));
  }
  SLIPWAY_ASSIGN_OR_RETURN(filter.device, IdListed("device", request.device()));
  SLIPWAY_ASSIGN_OR_RETURN(filter.tags, FromProto(request.tags()));
  if (request.subject().size() > kMaxSubjectBytes) {
    return absl::InvalidArgumentError(absl::StrCat("subject has ", request.subject().size(),
                                                   " bytes; at most ", kMaxSubjectBytes));
  }
  filter.subject = request.subject();
  SLIPWAY_ASSIGN_OR_RETURN(filter.since,
                           TimeListed("since_ns", request.since_ns(), absl::InfinitePast()));
  return filter;
}

}  // namespace

absl::Status ListJobs(const Caller& caller, const Environment& env,
                      const v1::ListJobsRequest& request, v1::ListJobsResponse* response) {
  SLIPWAY_ASSIGN_OR_RETURN(const PageLimits limits, PageListed(request.page_size()));
  SLIPWAY_ASSIGN_OR_RETURN(const JobFilter filter, FilterOf(caller, request));
  SLIPWAY_ASSIGN_OR_RETURN(JobPage found, env.jobs->List(filter, limits));
  response->set_next_page_token(found.next);
  for (v1::Job& job : found.items) *response->add_jobs() = std::move(job);
  return absl::OkStatus();
}

absl::Status CancelJob(const Caller& caller, const Environment& env,
                       const v1::CancelJobRequest& request, v1::Job* response) {
  SLIPWAY_ASSIGN_OR_RETURN(*response, env.dispatcher->Cancel(caller, request.id()));
  return absl::OkStatus();
}

}  // namespace slipway::server
