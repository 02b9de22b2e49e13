#include "server/services/admission.h"

#include "absl/strings/match.h"
#include "core/base/status_macros.h"
#include "core/rpc/token.h"
#include "server/names.h"

namespace slipway::server {
namespace {

// Who comes over a unix socket could do as he likes with what the server keeps, and where no token is wanted nobody is asked.
RoleSet RolesOf(const AdmissionSecrets& secrets, absl::string_view address) {
  if (secrets.token.empty() || absl::StartsWith(address, "unix:")) {
    return {Role::kUser, Role::kAgent, Role::kWorker, Role::kAdmin};
  }
  return {Role::kUser, Role::kAgent, Role::kWorker};
}

}  // namespace

absl::StatusOr<Caller> Admission::Admit(const CallHeader& call) const {
  const bool is_own_worker = !secrets_.own_worker.empty() &&
                             CheckAuthorization(secrets_.own_worker, call.authorization).ok();
  if (!is_own_worker) {
    SLIPWAY_RETURN_IF_ERROR(CheckAuthorization(secrets_.token, call.authorization));
  }
  if (!call.request_id.empty()) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckRequestId(call.request_id), "x-request-id");
  }
  return Caller{.owner = kOwnName,
                .roles = is_own_worker ? RoleSet({Role::kWorker}) : RolesOf(secrets_, call.address),
                .is_own_user = !is_own_worker,
                .is_own_worker = is_own_worker,
                .deadline = call.deadline,
                .request_id = std::string(call.request_id),
                .address = call.address};
}

}  // namespace slipway::server
