#include "server/services/admission.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "server/names.h"

namespace slipway::server {
namespace {

// In a time that depends on the length of `given` alone.
bool EqualInConstantTime(absl::string_view given, absl::string_view wanted) {
  unsigned char differs = given.size() == wanted.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    differs |= static_cast<unsigned char>(given[i] ^ wanted[i % wanted.size()]);
  }
  return differs == 0;
}

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
  SLIPWAY_RETURN_IF_ERROR(CheckToken(call.authorization));
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

absl::Status Admission::CheckToken(absl::string_view authorization) const {
  if (token_.empty()) return absl::OkStatus();
  absl::string_view given = authorization;
  if (!absl::ConsumePrefix(&given, "Bearer ")) {
    return absl::UnauthenticatedError("this server wants a token: pass --token-file");
  }
  if (EqualInConstantTime(given, token_)) return absl::OkStatus();
  return absl::UnauthenticatedError("the token is not that of this server: check --token-file");
}

}  // namespace slipway::server
