#include "server/services/join_service.h"

#include "absl/status/status.h"
#include "proto/slipway/v1/identity.pb.h"
#include "server/handlers/identities.h"

namespace slipway::server {

std::string AnswerJoinRequest(const Environment& env, absl::string_view request) {
  v1::JoinRequest asked;
  if (asked.ParseFromArray(request.data(), static_cast<int>(request.size()))) {
    return Join(env, asked).SerializeAsString();
  }
  v1::JoinAnswer answer;
  answer.set_code(static_cast<int>(absl::StatusCode::kInvalidArgument));
  answer.set_message("the request to join cannot be read");
  return answer.SerializeAsString();
}

}  // namespace slipway::server
