#include "server/identities/own_identities.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "core/base/status_macros.h"
#include "core/identity/certificate.h"
#include "core/identity/identity_file.h"
#include "core/identity/identity_id.h"
#include "proto/slipway/v1/identity.pb.h"
#include "server/identities/roles.h"

namespace slipway::server {
namespace {

constexpr absl::Duration kServerCertificateLifetime = absl::Hours(24 * 90);

// The certificate that is kept there, if it may stay.
absl::optional<CertificateFacts> ReadFresh(const std::string& path,
                                           const CertificateAuthority& authority, absl::Time now) {
  const absl::StatusOr<Identity> kept = ReadIdentity(path);
  if (!kept.ok() || kept->authority != authority.certificate()) return absl::nullopt;
  absl::StatusOr<CertificateFacts> facts = ReadCertificate(kept->certificate);
  if (!facts.ok()) return absl::nullopt;
  const absl::Duration lifetime = facts->not_after - facts->not_before;
  if (facts->not_before > now || facts->not_after - now < lifetime / 3) return absl::nullopt;
  return *std::move(facts);
}

bool IsCallerKnown(const CertificateFacts& facts, const Identities& identities, Role role) {
  for (const std::string& uri : facts.uris) {
    const auto id = IdentityOfUri(uri);
    if (!id.has_value()) continue;
    const absl::optional<v1::IdentityRecord> record = identities.Find(*id);
    if (record.has_value() && record->is_own() && RolesOf(*record).Has(role)) return true;
  }
  return false;
}

// What `sign` makes a certificate for.
absl::Status Keep(absl::StatusOr<std::string> (CertificateAuthority::*sign)(absl::string_view,
                                                                            absl::Time,
                                                                            absl::Duration) const,
                  const CertificateAuthority& authority, const std::string& path, absl::Time now) {
  if (ReadFresh(path, authority, now).has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(CertificateRequest request, NewCertificateRequest());
  SLIPWAY_ASSIGN_OR_RETURN(std::string certificate,
                           (authority.*sign)(request.request, now, kServerCertificateLifetime));
  return WriteIdentity(path, {.key = std::move(request.key),
                              .certificate = std::move(certificate),
                              .authority = authority.certificate()});
}

}  // namespace

absl::Status KeepServerIdentity(const CertificateAuthority& authority, const std::string& path,
                                absl::Time now) {
  return Keep(&CertificateAuthority::SignServer, authority, path, now);
}

absl::Status KeepSignerIdentity(const CertificateAuthority& authority, const std::string& path,
                                absl::Time now) {
  return Keep(&CertificateAuthority::SignSigner, authority, path, now);
}

absl::Status KeepOwnIdentity(const CertificateAuthority& authority, Identities& identities,
                             Role role, const std::string& path, absl::Time now) {
  const absl::optional<CertificateFacts> kept = ReadFresh(path, authority, now);
  if (kept.has_value() && IsCallerKnown(*kept, identities, role)) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const v1::IdentityRecord record, identities.MakeOwn(role));
  SLIPWAY_ASSIGN_OR_RETURN(CertificateRequest request, NewCertificateRequest());
  SLIPWAY_ASSIGN_OR_RETURN(Identities::Membership membership,
                           identities.Renew(record.id(), request.request));
  return WriteIdentity(path, {.key = std::move(request.key),
                              .certificate = std::move(membership.certificate),
                              .authority = std::move(membership.authority)});
}

}  // namespace slipway::server
