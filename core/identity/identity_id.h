// Identity ids: what a certificate says of whom it was made for.
//
// A server keeps a record of everybody it has let join (server/identities). A certificate names its record, as a URI among
// its subject's alternative names, and nothing else that a server believes: name, roles and whether it was revoked are
// the record's to say.
#ifndef SLIPWAY_CORE_IDENTITY_IDENTITY_ID_H_
#define SLIPWAY_CORE_IDENTITY_IDENTITY_ID_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace slipway {

// 16 lower-case hexadecimal digits from the system's random numbers.
std::string NewIdentityId();
bool IsIdentityId(absl::string_view text);

// What every URI that says who somebody is begins with, and no other.
inline constexpr absl::string_view kSlipwayUriPrefix = "urn:slipway:";

// "urn:slipway:identity:ID", and its inverse; nullopt for anything else.
std::string IdentityUri(absl::string_view id);
std::optional<std::string> IdentityOfUri(absl::string_view uri);

// Of users, agents and workers: INVALID_ARGUMENT unless it matches "[a-z0-9][a-z0-9_-]*" and has at most 63 bytes. No dot is in
// it, so that what it names may go by NAME.SOMETHING as well, and by nobody else's name.
absl::Status CheckIdentityName(absl::string_view name);

// The name of the user whom a server runs as, towards it; nobody else is invited by it.
inline constexpr char kOwnIdentityName[] = "local";

}  // namespace slipway

#endif  // SLIPWAY_CORE_IDENTITY_IDENTITY_ID_H_
