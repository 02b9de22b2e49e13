// IdentityService: who may call.
#ifndef SLIPWAY_SERVER_HANDLERS_IDENTITIES_H_
#define SLIPWAY_SERVER_HANDLERS_IDENTITIES_H_

#include "absl/status/status.h"
#include "proto/slipway/v1/identity.pb.h"
#include "server/caller.h"
#include "server/handlers/environment.h"

namespace slipway::server {

absl::Status Invite(const Caller& caller, const Environment& env, const v1::InviteRequest& request,
                    v1::InviteResponse* response);
absl::Status CreateToken(const Caller& caller, const Environment& env,
                         const v1::CreateTokenRequest& request, v1::CreateTokenResponse* response);
absl::Status ListIdentities(const Environment& env, const v1::ListIdentitiesRequest& request,
                            v1::ListIdentitiesResponse* response);
absl::Status Revoke(const Caller& caller, const Environment& env, const v1::RevokeRequest& request,
                    v1::RevokeResponse* response);
absl::Status Renew(const Caller& caller, const Environment& env, const v1::RenewRequest& request,
                   v1::RenewResponse* response);

// What the join door answers, which is no service and knows no caller: `request` is a stranger's.
v1::JoinAnswer Join(const Environment& env, const v1::JoinRequest& request);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_IDENTITIES_H_
