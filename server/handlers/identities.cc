#include "server/handlers/identities.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/identity/identity_id.h"
#include "core/identity/role.h"
#include "server/identities/identities.h"
#include "server/limits.h"

namespace slipway::server {
namespace {

// What was asked for, as records have it.
template <typename Request>
absl::StatusOr<RoleSet> ReadRoles(const Request& request) {
  v1::IdentityRecord record;
  for (const int role : request.roles()) {
    if (!v1::Role_IsValid(role) || role == v1::ROLE_UNSPECIFIED) {
      return absl::InvalidArgumentError(absl::StrCat("role ", role, " is unknown"));
    }
    record.add_roles(static_cast<v1::Role>(role));
  }
  return RolesOf(record);
}

void LogMade(const Caller& caller, absl::string_view what, const v1::IdentityRecord& record) {
  Log(LogLevel::kInfo, what,
      {{"id", record.id()},
       {"name", record.name()},
       {"roles", RolesOf(record).ToString("+")},
       {"by", caller.owner},
       {"address", caller.address}});
}

}  // namespace

absl::Status Invite(const Caller& caller, const Environment& env, const v1::InviteRequest& request,
                    v1::InviteResponse* response) {
  SLIPWAY_ASSIGN_OR_RETURN(const RoleSet roles, ReadRoles(request));
  SLIPWAY_ASSIGN_OR_RETURN(
      Identities::Invitation invitation,
      env.identities->Invite(request.name(), roles, absl::Nanoseconds(request.lifetime_ns())));
  LogMade(caller, "invited", invitation.record);
  response->set_code(invitation.code.ToString());
  *response->mutable_record() = std::move(invitation.record);
  return absl::OkStatus();
}

absl::Status CreateToken(const Caller& caller, const Environment& env,
                         const v1::CreateTokenRequest& request, v1::CreateTokenResponse* response) {
  SLIPWAY_ASSIGN_OR_RETURN(const RoleSet roles, ReadRoles(request));
  SLIPWAY_ASSIGN_OR_RETURN(
      Identities::Token token,
      env.identities->CreateToken(request.name(), roles, absl::Nanoseconds(request.lifetime_ns())));
  LogMade(caller, "token made", token.record);
  response->set_token(std::move(token.text));
  *response->mutable_record() = std::move(token.record);
  return absl::OkStatus();
}

absl::Status ListIdentities(const Environment& env, const v1::ListIdentitiesRequest& request,
                            v1::ListIdentitiesResponse* response) {
  if (request.page_size() < 0 || request.page_size() > kMaxPageSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("page_size is ", request.page_size(), "; 0 to ", kMaxPageSize, " wanted"));
  }
  if (!request.page_token().empty() && !IsIdentityId(request.page_token())) {
    return absl::InvalidArgumentError("page_token is none that this server gave");
  }
  const int limit = request.page_size() == 0 ? kDefaultPageSize : request.page_size();
  Identities::Page page = env.identities->List(request.page_token(), limit);
  if (page.has_more) response->set_next_page_token(page.records.back().id());
  for (v1::IdentityRecord& record : page.records) *response->add_records() = std::move(record);
  return absl::OkStatus();
}

absl::Status Revoke(const Caller& caller, const Environment& env, const v1::RevokeRequest& request,
                    v1::RevokeResponse* response) {
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<v1::IdentityRecord> records,
                           env.identities->Revoke(request.id_or_name()));
  for (v1::IdentityRecord& record : records) {
    LogMade(caller, "revoked by an administrator", record);
    *response->add_records() = std::move(record);
  }
  return absl::OkStatus();
}

absl::Status Renew(const Caller& caller, const Environment& env, const v1::RenewRequest& request,
                   v1::RenewResponse* response) {
  // Who has a token is known, and has not joined.
  if (!env.identities->Find(caller.identity).has_value()) {
    return absl::FailedPreconditionError(
        "only who joined can renew: you have called without a certificate");
  }
  SLIPWAY_ASSIGN_OR_RETURN(Identities::Membership membership,
                           env.identities->Renew(caller.identity, request.request()));
  response->set_certificate(std::move(membership.certificate));
  response->set_authority(std::move(membership.authority));
  return absl::OkStatus();
}

v1::JoinAnswer Join(const Environment& env, const v1::JoinRequest& request) {
  v1::JoinAnswer answer;
  absl::StatusOr<Identities::Membership> membership =
      env.identities->Join(request.secret(), request.request(), request.role());
  if (!membership.ok()) {
    answer.set_code(static_cast<int>(membership.status().code()));
    answer.set_message(std::string(membership.status().message()));
    return answer;
  }
  answer.set_certificate(std::move(membership->certificate));
  answer.set_authority(std::move(membership->authority));
  answer.set_name(std::move(membership->name));
  return answer;
}

}  // namespace slipway::server
