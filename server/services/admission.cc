#include "server/services/admission.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/rpc/token.h"
#include "server/names.h"

namespace slipway::server {
namespace {

// The owner of everything until there are users.
constexpr absl::string_view kLocalOwner = "local";

absl::string_view RoleName(Role role) {
  switch (role) {
    case Role::kUser:
      return "user";
    case Role::kAgent:
      return "agent";
    case Role::kWorker:
      return "worker";
  }
  return "unknown";
}

}  // namespace

absl::StatusOr<Caller> Admission::Admit(const CallHeader& call) const {
  SLIPWAY_RETURN_IF_ERROR(CheckAuthorization(token_, call.authorization));
  if (!call.request_id.empty()) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckRequestId(call.request_id), "x-request-id");
  }
  return Caller{.owner = std::string(kLocalOwner),
                .roles = {Role::kUser, Role::kAgent, Role::kWorker},
                .deadline = call.deadline,
                .request_id = std::string(call.request_id),
                .address = call.address};
}

absl::Status CheckRole(const Caller& caller, Role role) {
  if (caller.roles.contains(role)) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("'", caller.owner, "' lacks the role of a ", RoleName(role)));
}

}  // namespace slipway::server
