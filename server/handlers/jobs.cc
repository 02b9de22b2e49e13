#include "server/handlers/jobs.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/identity/role.h"
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
    record.mutable_job()->set_queue_position(env.dispatcher->QueuePosition(id));
  }
  return std::move(*record.mutable_job());
}

absl::Status GetJob(const Caller& caller, const Environment& env, const v1::GetJobRequest& request,
                    v1::Job* response) {
  SLIPWAY_ASSIGN_OR_RETURN(*response, ReadJob(caller, env, request.id()));
  return absl::OkStatus();
}

absl::Status ListJobs(const Caller& caller, const Environment& env,
                      const v1::ListJobsRequest& request, v1::ListJobsResponse* response) {
  if (request.page_size() < 0 || request.page_size() > kMaxPageSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("page_size is ", request.page_size(), "; 0 to ", kMaxPageSize, " wanted"));
  }
  if (request.of_everybody() && !caller.roles.Has(Role::kAdmin)) {
    return absl::PermissionDeniedError(absl::StrCat(
        "'", caller.owner, "' is not ", RoleName(Role::kAdmin),
        ", as listing the jobs of everybody wants: list your own, or ask an administrator"));
  }
  JobFilter filter{.owner = caller.owner,
                   .of_everybody = request.of_everybody(),
                   .before_id = request.page_token()};
  if (!filter.before_id.empty())
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckJobId(filter.before_id), "page_token");
  for (int state : request.states()) {
    if (!v1::Job::State_IsValid(state) || state == v1::Job::STATE_UNSPECIFIED) {
      return absl::InvalidArgumentError(absl::StrCat("state ", state, " is unknown"));
    }
    filter.states.push_back(static_cast<v1::Job::State>(state));
  }
  const int page = request.page_size() == 0 ? kDefaultPageSize : request.page_size();
  SLIPWAY_ASSIGN_OR_RETURN(JobPage found, env.jobs->List(filter, page, kMaxPageBytes));
  if (found.has_more) response->set_next_page_token(found.jobs.back().id());
  for (v1::Job& job : found.jobs) *response->add_jobs() = std::move(job);
  return absl::OkStatus();
}

absl::Status CancelJob(const Caller& caller, const Environment& env,
                       const v1::CancelJobRequest& request, v1::Job* response) {
  SLIPWAY_ASSIGN_OR_RETURN(*response, env.dispatcher->Cancel(caller, request.id()));
  return absl::OkStatus();
}

}  // namespace slipway::server
