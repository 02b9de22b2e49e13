// What is said at the join door (core/rpc/join_door.h).
#ifndef SLIPWAY_SERVER_SERVICES_JOIN_SERVICE_H_
#define SLIPWAY_SERVER_SERVICES_JOIN_SERVICE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "server/handlers/environment.h"
#include "server/services/call_audit.h"

namespace slipway::server {

// Answers a v1::JoinRequest by a v1::JoinAnswer; both serialized. Whatever a stranger sends has an answer, and is told to the audit
// log. `peer` is where he is, as gRPC names it. Thread-safe.
std::string AnswerJoinRequest(const Environment& env, const CallAudit& audit,
                              absl::string_view request, absl::string_view peer);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_JOIN_SERVICE_H_
