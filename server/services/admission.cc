#include "server/services/admission.h"

#include "absl/strings/strip.h"
#include "absl/types/optional.h"
#include "core/base/status_macros.h"
#include "core/identity/identity_id.h"
#include "core/rpc/request_id.h"
#include "core/rpc/token.h"
#include "server/identities/roles.h"
#include "server/names.h"

namespace slipway::server {
namespace {

absl::Status Unknown(const CallHeader& call) {
  if (!call.identity.empty()) {
    return absl::UnauthenticatedError(
        "this identity was revoked: ask the server's administrator for a new code, and join again");
  }
  if (!call.authorization.empty()) {
    return absl::UnauthenticatedError(
        "the token is none of this server, has expired or was revoked: check --token-file");
  }
  return absl::UnauthenticatedError(
      "this server wants to know who calls: join it, or pass --token-file");
}

}  // namespace

absl::Status Admission::Identify(const CallHeader& call, Caller& caller) const {
  absl::string_view secret = call.authorization;
  const bool has_secret = absl::ConsumePrefix(&secret, "Bearer ");
  if (has_secret && !options_.own_worker.empty() && IsSameSecret(options_.own_worker, secret)) {
    caller.owner = kOwnIdentityName;
    caller.roles = {Role::kWorker};
    caller.is_own_worker = true;
    return absl::OkStatus();
  }
  if (options_.identities == nullptr) {
    caller.owner = kOwnIdentityName;
    caller.roles = {Role::kUser, Role::kAgent, Role::kWorker, Role::kAdmin};
    caller.is_own_user = true;
    return absl::OkStatus();
  }
  absl::optional<v1::IdentityRecord> record;
  if (!call.identity.empty()) {
    record = options_.identities->Find(call.identity);
  } else if (has_secret) {
    record = options_.identities->FindToken(secret);
  }
  if (!record.has_value()) return Unknown(call);
  caller.owner = record->name();
  caller.roles = RolesOf(*record);
  caller.identity = record->id();
  caller.is_own_user = record->is_own();
  return absl::OkStatus();
}

absl::StatusOr<Caller> Admission::Admit(const CallHeader& call) const {
  Caller caller{.deadline = call.deadline,
                .request_id = std::string(call.request_id),
                .address = call.address};
  SLIPWAY_RETURN_IF_ERROR(Identify(call, caller));
  if (!call.request_id.empty()) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckRequestId(call.request_id), kRequestIdName);
  }
  return caller;
}

}  // namespace slipway::server
