// What is said at the join door (core/rpc/join_door.h).
#ifndef SLIPWAY_SERVER_SERVICES_JOIN_SERVICE_H_
#define SLIPWAY_SERVER_SERVICES_JOIN_SERVICE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "server/handlers/environment.h"

namespace slipway::server {

// Answers a v1::JoinRequest by a v1::JoinAnswer; both serialized. Whatever a stranger sends has an answer. Thread-safe.
std::string AnswerJoinRequest(const Environment& env, absl::string_view request);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_JOIN_SERVICE_H_
