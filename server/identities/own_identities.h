// What the server calls itself, and what the user whom it runs as calls it with: made at the first start, so that nobody has to set
// anything up on a machine of his own, and renewed in time.
#ifndef SLIPWAY_SERVER_IDENTITIES_OWN_IDENTITIES_H_
#define SLIPWAY_SERVER_IDENTITIES_OWN_IDENTITIES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/identity/certificate_authority.h"
#include "core/identity/role.h"
#include "server/identities/identities.h"

namespace slipway::server {

// Keeps the server's identity at `path`: makes it when there is none, it is another authority's, or a third of its time is left.
absl::Status KeepServerIdentity(const CertificateAuthority& authority, const std::string& path,
                                absl::Time now);

// Keeps what the server signs statements with at `path`, in the same way.
absl::Status KeepSignerIdentity(const CertificateAuthority& authority, const std::string& path,
                                absl::Time now);

// Keeps the identity of the server's own user at `path`, for a role, in the same way.
absl::Status KeepOwnIdentity(const CertificateAuthority& authority, Identities& identities,
                             Role role, const std::string& path, absl::Time now);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_IDENTITIES_OWN_IDENTITIES_H_
