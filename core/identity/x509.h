// Certificates and keys as OpenSSL's objects: how they come from PEM and go there, and when they belong together. For the
// files of this folder and core/rpc/tls_stream.cc.
#ifndef SLIPWAY_CORE_IDENTITY_X509_H_
#define SLIPWAY_CORE_IDENTITY_X509_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/identity/openssl_handles.h"

namespace slipway {

// More PEM than this is refused unread.
inline constexpr size_t kMaxPemBytes = 64 * 1024;

// INTERNAL: OpenSSL could not do `what`, which no input of others can cause, and why.
absl::Status OpensslError(absl::string_view what);

// The DER of the first certificate in `pem`, and that certificate. INVALID_ARGUMENT when there is none, when it is encrypted,
// and for any encoding but the one that OpenSSL writes, so that a certificate has one fingerprint only.
struct ParsedCertificate {
  UniqueX509 x509;
  std::string der;
};
absl::StatusOr<ParsedCertificate> ParseCertificate(absl::string_view pem);

// The first private key in `pem`. INVALID_ARGUMENT when there is none, it is damaged or encrypted: nobody is asked for a
// password.
absl::StatusOr<UniquePkey> ParseKey(absl::string_view pem);

// A key of P-256.
absl::StatusOr<UniquePkey> NewKey();

absl::StatusOr<std::string> ToPemText(EVP_PKEY* key);
absl::StatusOr<std::string> ToPemText(X509* certificate);

// INVALID_ARGUMENT unless `key` is whole and the certificate's.
absl::Status CheckIsKeyOf(EVP_PKEY* key, X509* certificate);

// INVALID_ARGUMENT unless the certificate is one that signs others, and has signed itself.
absl::Status CheckIsAuthority(X509* certificate);

// INVALID_ARGUMENT unless `authority` has signed the certificate. Times are not looked at.
absl::Status CheckIsSignedBy(X509* certificate, X509* authority);

// From when to when it is valid. INVALID_ARGUMENT when that cannot be read.
struct CertificateTimes {
  absl::Time not_before;
  absl::Time not_after;
};
absl::StatusOr<CertificateTimes> TimesOf(X509* certificate);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IDENTITY_X509_H_
