#include "server/handlers/sessions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/rpc/token.h"
#include "core/target/target.h"
#include "core/wire/digest_proto.h"
#include "core/wire/session_wish.h"
#include "core/wire/status_proto.h"
#include "server/devices/can_run.h"
#include "server/devices/device_need.h"
#include "server/handlers/new_job.h"
#include "server/limits.h"
#include "server/names.h"

namespace slipway::server {
namespace {

// A wait of none is one too short for anything but a device that is free.
constexpr absl::Duration kNoWait = absl::Milliseconds(1);

absl::StatusOr<ProgramNeeds> NeedsOf(const SessionWish& wish) {
  ProgramNeeds needs{.is_session = true};
  if (!wish.target.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(needs.target, ParseTarget(wish.target), "target");
  }
  return needs;
}

// Others are told no more of a job than who it is of and what he says that it is for.
std::string InWords(const v1::Job& holder) {
  const char* const what = holder.has_session()     ? "a session"
                           : holder.has_benchmark() ? "a benchmark"
                                                    : "a run";
  const std::string& purpose = holder.session().purpose();
  return absl::StrCat(what, " of ", holder.owner(), purpose.empty() ? "" : ": ", purpose);
}

}  // namespace

absl::StatusOr<JobRecord> CreateSession(const Caller& caller, const Environment& env,
                                        const v1::SessionRequest::Open& open) {
  SLIPWAY_ASSIGN_OR_RETURN(const SessionWish wish, ReadWish(open));
  v1::SessionRequest::Open work = open;
  work.clear_request_id();
  const absl::Duration wait = std::max(wish.wait, kNoWait);
  const JobRequest request{
      // One that is not named is never asked for again.
      .request_id = wish.request_id.empty() ? NewSecret() : wish.request_id,
      .work_digest = WorkDigest("SessionRequest.Open", work.SerializeAsString()),
      .queue_deadline_ns = absl::ToInt64Nanoseconds(wait),
      .run_deadline_ns = absl::ToInt64Nanoseconds(wish.longest),
      .total_deadline_ns = absl::ToInt64Nanoseconds(std::min(wait + wish.longest, kMaxDeadline)),
      .priority = wish.priority,
      .tags = wish.tags};
  SLIPWAY_RETURN_IF_ERROR(CheckJobRequest(caller, env, request));
  SLIPWAY_ASSIGN_OR_RETURN(const absl::optional<std::string> earlier,
                           FindEarlier(caller, env, request));
  if (earlier.has_value()) return env.jobs->Get(*earlier);
  SLIPWAY_ASSIGN_OR_RETURN(ProgramNeeds program, NeedsOf(wish));
  SLIPWAY_ASSIGN_OR_RETURN(const DeviceNeed need, ReadDeviceNeed(wish.device, std::move(program)));
  SLIPWAY_RETURN_IF_ERROR(env.dispatcher->CheckSomeDeviceFits(need));
  JobRecord record = NewRecord(caller, env, request, wish.purpose, {});
  v1::SessionSpec& spec = *record.mutable_job()->mutable_session();
  spec.set_device(wish.device);
  spec.set_target(wish.target);
  spec.set_purpose(wish.purpose);
  spec.set_idle_ns(absl::ToInt64Nanoseconds(wish.idle));
  record.mutable_session()->set_ticket(NewSecret());
  return env.dispatcher->Accept(caller, std::move(record));
}

absl::StatusOr<JobRecord> FindSession(const Caller& caller, const Environment& env,
                                      absl::string_view session, absl::string_view ticket) {
  SLIPWAY_RETURN_IF_ERROR(CheckJobId(session));
  absl::StatusOr<JobRecord> record = env.jobs->Get(session);
  if (!record.ok() && !absl::IsNotFound(record.status())) return record;
  if (!record.ok() || record->job().owner() != caller.owner || !record->job().has_session()) {
    return absl::NotFoundError(absl::StrCat("there is no session '", session, "'"));
  }
  if (!IsSameSecret(record->session().ticket(), ticket)) {
    return absl::PermissionDeniedError(
        absl::StrCat("the ticket is not that of session '", session, "'"));
  }
  return record;
}

absl::Status VouchInSession(const Environment& env, const v1::Job& session,
                            const v1::VouchRequest& request, v1::SignedStatement* response) {
  ArtifactLibrary::ProgramFacts program;
  SLIPWAY_ASSIGN_OR_RETURN_WITH(program.manifest, FromProto(request.manifest()), "manifest");
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Target target, ParseTarget(request.target()), "target");
  program.target = target.ToString();
  // One that is no key is one that nothing was compiled for.
  program.compile_key = request.compile_key();
  SLIPWAY_ASSIGN_OR_RETURN(*response, env.artifacts->Vouch(program, session.owner()));
  return absl::OkStatus();
}

absl::Status EndOf(const JobRecord& session) {
  switch (session.job().state()) {
    case v1::Job::SUCCEEDED:
      return absl::OkStatus();
    case v1::Job::CANCELLED:
      return absl::CancelledError(absl::StrCat(
          "the lease was released",
          session.cancelled_by().empty() ? "" : absl::StrCat(" by ", session.cancelled_by())));
    default:
      return FromProto(session.job().error());
  }
}

v1::SessionResponse WaitingNews(const Environment& env, const JobRecord& session) {
  v1::SessionResponse news;
  v1::SessionResponse::Waiting& waiting = *news.mutable_waiting();
  waiting.set_session(session.job().id());
  waiting.set_ticket(session.session().ticket());
  if (session.job().state() == v1::Job::QUEUED) {
    waiting.set_ahead(std::max<int64_t>(0, env.dispatcher->QueuePosition(session.job().id()) - 1));
    const absl::optional<v1::Job> holder = env.dispatcher->HolderFor(session.job().id());
    if (holder.has_value()) waiting.set_holder(InWords(*holder));
  }
  return news;
}

}  // namespace slipway::server
