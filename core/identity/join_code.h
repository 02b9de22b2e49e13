// JoinCode: what an administrator hands to whoever shall join a server, to be used once.
#ifndef SLIPWAY_CORE_IDENTITY_JOIN_CODE_H_
#define SLIPWAY_CORE_IDENTITY_JOIN_CODE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/digest.h"
#include "core/identity/role.h"

namespace slipway {

// 80 bits that the server knows it by, and 100 bits by which the server is known: the first of the SHA-256 of its
// authority's certificate. So neither takes another for the one that is meant.
struct JoinCode {
  std::string secret;     // 16 characters of Crockford's base 32, upper case.
  std::string authority;  // 20 of them.

  // For the authority of this fingerprint, with a secret from the system's random numbers.
  static JoinCode New(const Digest& authority);

  // "XXXXXX-XXXXXX-XXXXXX-XXXXXX-XXXXXX-XXXXXX".
  std::string ToString() const;
  // The inverse. Case, blanks and dashes do not matter; I and L are 1, O is 0. INVALID_ARGUMENT for anything else,
  // without repeating it.
  static absl::StatusOr<JoinCode> Parse(absl::string_view text);

  // Whether an authority of this fingerprint is meant.
  bool IsFor(const Digest& fingerprint) const;
};

// The text in which `fingerprint` stands in a code.
std::string AuthorityText(const Digest& fingerprint);

// What is typed to join a server with a role, before its address and the code: "slipway-agent join".
absl::string_view JoinCommand(Role role);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IDENTITY_JOIN_CODE_H_
