#include "server/services/admission.h"

#include "core/base/status_macros.h"
#include "core/rpc/token.h"
#include "server/names.h"

namespace slipway::server {
namespace {

// The owner of everything until there are users.
constexpr absl::string_view kLocalOwner = "local";

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
  return Caller{.owner = std::string(kLocalOwner),
                .roles = is_own_worker ? RoleSet({Role::kWorker})
                                       : RoleSet({Role::kUser, Role::kAgent, Role::kWorker}),
                .is_own_worker = is_own_worker,
                .deadline = call.deadline,
                .request_id = std::string(call.request_id),
                .address = call.address};
}

}  // namespace slipway::server
