// Sessions as jobs: opened, and found again by who shows their ticket.
#ifndef SLIPWAY_SERVER_HANDLERS_SESSIONS_H_
#define SLIPWAY_SERVER_HANDLERS_SESSIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/job.pb.h"
#include "proto/slipway/v1/session.pb.h"
#include "proto/slipway/v1/statement.pb.h"
#include "server/caller.h"
#include "server/handlers/environment.h"
#include "server/jobs/job_record.pb.h"

namespace slipway::server {

// Accepts a session, durably, or returns the one that the same open made before. Statuses are those of
// SessionService.Open.
absl::StatusOr<JobRecord> CreateSession(const Caller& caller, const Environment& env,
                                        const v1::SessionRequest::Open& open);

// The session of that ticket, whatever became of it. NOT_FOUND for another owner's as for none; PERMISSION_DENIED for
// another ticket.
absl::StatusOr<JobRecord> FindSession(const Caller& caller, const Environment& env,
                                      absl::string_view session, absl::string_view ticket);

// What the server says of a program that the session's client wants to load. Statuses are those of AgentService.Vouch.
absl::Status VouchInSession(const Environment& env, const v1::Job& session,
                            const v1::VouchRequest& request, v1::SignedStatement* response);

// How a session ended whose job has; OK when its client closed it.
absl::Status EndOf(const JobRecord& session);

// What its client is told while it waits.
v1::SessionResponse WaitingNews(const Environment& env, const JobRecord& session);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_SESSIONS_H_
