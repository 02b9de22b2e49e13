// CallerProof: what a program proves to a server who it is with.
#ifndef SLIPWAY_CORE_RPC_CALLER_PROOF_H_
#define SLIPWAY_CORE_RPC_CALLER_PROOF_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/identity/role.h"

namespace slipway {

struct CallerProof {
  // core/identity/identity_file.h: calls go over TLS, to the server that the identity is for and no other. Read when a channel is made.
  std::string identity_file;
  // The file of the authorities of somebody else that vouch for the server by the name in its address, and for what is in
  // `identity_file`: key and certificates, as given_certificate.h has them.
  std::string authority_file;
  // Without these: the certificate (PEM) of the authority whose server is called over TLS, which asks for no certificate.
  std::string authority;
  // Sent with every call; empty: none.
  std::string token;

  // Else calls are not encrypted, as over a unix socket.
  bool is_over_tls() const {
    return !identity_file.empty() || !authority_file.empty() || !authority.empty();
  }
};

// What its user said of that.
struct ProofOptions {
  std::string identity_file;   // --identity
  std::string authority_file;  // --authority
  std::string token;           // Of --token-file.
  bool insecure = false;       // --insecure
};

// How `role` proves itself to the server at `address`: by nothing over a unix socket, or where `insecure` says so; else by the identity file
// that is given, else by the token, whose server is asked for its authority (20 s at most; errors of KnockAtJoinDoor), else by the identity that this user has for the
// server (IdentityPath). UNAUTHENTICATED, which says how to join, when there
// is none, and when it has expired; errors of ReadIdentity; INVALID_ARGUMENT for a file together with `insecure`. With an authority file, by the identity file and the token
// that are given: INVALID_ARGUMENT without any; errors of ReadGivenAuthorities and ReadGivenCertificate.
absl::StatusOr<CallerProof> FindProof(absl::string_view address, Role role,
                                      const ProofOptions& options);

// The name by which he who proves himself so was invited: what his ids begin with (server/services/access.h). Nullopt for the user whom the server runs as, and
// where there is no identity. Errors of ReadIdentity.
absl::StatusOr<std::optional<std::string>> JoinedName(const CallerProof& proof);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_CALLER_PROOF_H_
