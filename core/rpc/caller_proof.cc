#include "core/rpc/caller_proof.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"
#include "core/identity/certificate.h"
#include "core/identity/given_certificate.h"
#include "core/identity/given_identity.h"
#include "core/identity/identity_file.h"
#include "core/identity/identity_id.h"
#include "core/identity/join_code.h"
#include "core/rpc/knock.h"
#include "core/rpc/listen_address.h"

namespace slipway {
namespace {

constexpr absl::Duration kAskDeadline = absl::Seconds(20);

std::string HowToJoin(absl::string_view address, Role role) {
  return absl::StrCat("ask its administrator for a code (`slipwayd invite ", RoleName(role),
                      " NAME` there) and type `", JoinCommand(role), " ", address, " CODE`");
}

// Tokens say whose they are behind the last dot, so that they are shown to nobody else.
absl::StatusOr<std::string> AskForAuthority(const std::string& address, absl::string_view token) {
  const size_t dot = token.rfind('.');
  if (dot == absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the token of --token-file is none of `slipwayd token`, so it is not known whether \"",
        address, "\" is its server; pass --insecure to send it unencrypted"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(
      const JoinDoorAnswer answer,
      KnockAtJoinDoor(address, token.substr(dot + 1), "", absl::Now() + kAskDeadline));
  return answer.authority;
}

absl::StatusOr<CallerProof> FindGivenProof(const ProofOptions& options) {
  if (options.identity_file.empty() && options.token.empty()) {
    return absl::InvalidArgumentError(
        "--authority says who vouches for the server: pass --identity FILE as well, with key and "
        "certificate, or --token-file");
  }
  const absl::Time now = absl::Now();
  SLIPWAY_RETURN_IF_ERROR_WITH(ReadGivenAuthorities(options.authority_file, now).status(),
                               "--authority");
  if (!options.identity_file.empty()) {
    SLIPWAY_RETURN_IF_ERROR_WITH(ReadGivenCertificate(options.identity_file, options.identity_file,
                                                      CertificateUse::kCaller, now)
                                     .status(),
                                 "--identity");
  }
  return CallerProof{.identity_file = options.identity_file,
                     .authority_file = options.authority_file,
                     .token = options.token};
}

// Of a certificate that says it itself.
std::optional<std::string> GivenName(const CertificateFacts& facts) {
  for (const std::string& uri : facts.uris) {
    if (const auto given = GivenIdentityOfUri(uri); given.has_value()) return given->name;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::optional<std::string>> JoinedName(const CallerProof& proof) {
  if (proof.identity_file.empty()) return std::nullopt;
  if (!proof.authority_file.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(const GivenCertificate given,
                             ReadGivenCertificate(proof.identity_file, proof.identity_file,
                                                  CertificateUse::kCaller, absl::Now()));
    SLIPWAY_ASSIGN_OR_RETURN(const CertificateFacts facts, ReadCertificate(given.chain));
    return GivenName(facts);
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Identity identity, ReadIdentity(proof.identity_file));
  SLIPWAY_ASSIGN_OR_RETURN(CertificateFacts facts, ReadCertificate(identity.certificate));
  if (facts.common_name == kOwnIdentityName) return std::nullopt;
  return std::move(facts.common_name);
}

absl::StatusOr<CallerProof> FindProof(absl::string_view address, Role role,
                                      const ProofOptions& options) {
  CallerProof proof{.token = options.token};
  const bool is_local = absl::StartsWith(address, kUnixAddressPrefix);
  if (options.insecure || is_local) {
    if (options.identity_file.empty() && options.authority_file.empty()) return proof;
    return absl::InvalidArgumentError(
        absl::StrCat("--identity and --authority are for servers that are called over TLS: ",
                     options.insecure ? "not together with --insecure" : "not over a unix socket"));
  }
  if (!options.authority_file.empty()) return FindGivenProof(options);
  proof.identity_file = options.identity_file;
  if (proof.identity_file.empty() && !options.token.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(proof.authority, AskForAuthority(std::string(address), options.token));
    return proof;
  }
  if (proof.identity_file.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(proof.identity_file, IdentityPath(address, role));
  }
  const absl::StatusOr<Identity> identity = ReadIdentity(proof.identity_file);
  if (absl::IsNotFound(identity.status()) && options.identity_file.empty()) {
    return absl::UnauthenticatedError(absl::StrCat(
        "this user has not joined the server at \"", address, "\" as ", RoleName(role), ": ",
        HowToJoin(address, role), "; --insecure is for a server that was started with that"));
  }
  SLIPWAY_RETURN_IF_ERROR_WITH(identity.status(), "--identity");
  SLIPWAY_ASSIGN_OR_RETURN(const CertificateFacts facts, ReadCertificate(identity->certificate));
  if (facts.not_after <= absl::Now()) {
    return absl::UnauthenticatedError(absl::StrCat(
        "\"", proof.identity_file, "\" has expired (", absl::FormatTime(facts.not_after),
        "), by this machine's clock: ", HowToJoin(address, role)));
  }
  return proof;
}

}  // namespace slipway
