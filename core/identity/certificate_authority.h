// CertificateAuthority: makes the certificates of one server and of all that join it.
#ifndef SLIPWAY_CORE_IDENTITY_CERTIFICATE_AUTHORITY_H_
#define SLIPWAY_CORE_IDENTITY_CERTIFICATE_AUTHORITY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace slipway {

// The name that every server's certificate bears, whatever its address is: an authority makes certificates for one server
// alone, so who trusts it needs no other name.
inline constexpr char kServerCertificateName[] = "slipway-server";

// The name that the certificate of an agent bears, who joined as `name`: clients of its server call it where it listens.
std::string AgentCertificateName(absl::string_view name);

// The name of the certificate with which a server signs statements (core/identity/signed_statement.h).
inline constexpr char kSignerCertificateName[] = "slipway-signer";

// A clock an hour off is common on boards: certificates begin that much before they are made.
inline constexpr absl::Duration kClockSkew = absl::Hours(1);

// Thread-safe.
class CertificateAuthority {
 public:
  // A new one, valid for 20 years: its certificate signs certificates and is no use for anything else.
  static absl::StatusOr<std::unique_ptr<CertificateAuthority>> Create(absl::Time now);
  // What ToPem wrote. DATA_LOSS when it is damaged, or key and certificate do not belong together.
  static absl::StatusOr<std::unique_ptr<CertificateAuthority>> Parse(absl::string_view pem);
  virtual ~CertificateAuthority() = default;

  // Key and certificate; secret.
  virtual std::string ToPem() const = 0;
  // PEM; for everybody.
  virtual const std::string& certificate() const = 0;

  // For one who calls servers: of the key in `request` (DER), with IdentityUri(id) and `name` as its common name, for the
  // authentication of clients alone, from `now` less kClockSkew until `now` plus `lifetime`. PEM, the authority's own
  // certificate not included. INVALID_ARGUMENT unless the request is sound, of at most 4 KiB, signed by its key, and the key
  // ECDSA of P-256; and for what is no id or name (core/identity/identity_id.h). Whatever else the request asks for is
  // passed over.
  virtual absl::StatusOr<std::string> SignCaller(absl::string_view request, absl::string_view id,
                                                 absl::string_view name, absl::Time now,
                                                 absl::Duration lifetime) const = 0;

  // The same for an agent, who is called, too: for the authentication of servers as well, named AgentCertificateName(name).
  virtual absl::StatusOr<std::string> SignAgent(absl::string_view request, absl::string_view id,
                                                absl::string_view name, absl::Time now,
                                                absl::Duration lifetime) const = 0;

  // For the server: named kServerCertificateName, for the authentication of servers alone.
  virtual absl::StatusOr<std::string> SignServer(absl::string_view request, absl::Time now,
                                                 absl::Duration lifetime) const = 0;

  // For the key that the server signs statements with: named kSignerCertificateName, for signing code alone, so that it is no
  // use for TLS, and no certificate for TLS is any for signing.
  virtual absl::StatusOr<std::string> SignSigner(absl::string_view request, absl::Time now,
                                                 absl::Duration lifetime) const = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_IDENTITY_CERTIFICATE_AUTHORITY_H_
