// What the user whom the server runs as calls it with: made at the first start, so that nobody has to set anything up on a machine of
// his own, and renewed in time.
#ifndef SLIPWAY_SERVER_IDENTITIES_OWN_IDENTITIES_H_
#define SLIPWAY_SERVER_IDENTITIES_OWN_IDENTITIES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/identity/certificate_authority.h"
#include "core/identity/role.h"
#include "server/identities/identities.h"

namespace slipway::server {

// Keeps the identity of the server's own user at `path`, for a role: makes it when there is none that may stay (ReadFresh).
absl::Status KeepOwnIdentity(const CertificateAuthority& authority, Identities& identities,
                             Role role, const std::string& path, absl::Time now);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_IDENTITIES_OWN_IDENTITIES_H_
