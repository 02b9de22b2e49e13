// Certificates (X.509 version 3, RFC 5280) and keys (ECDSA, P-256), in PEM, by OpenSSL.
#ifndef SLIPWAY_CORE_IDENTITY_CERTIFICATE_H_
#define SLIPWAY_CORE_IDENTITY_CERTIFICATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/digest.h"

namespace slipway {

// A key of its own making, and the request for a certificate for it (PKCS #10, RFC 2986), signed by it. The request says
// nothing but the public key.
struct CertificateRequest {
  std::string key;      // PEM; secret.
  std::string request;  // DER.
};
absl::StatusOr<CertificateRequest> NewCertificateRequest();

// What is in a certificate.
struct CertificateFacts {
  std::string common_name;
  std::vector<std::string> uris;       // Of the subject's alternative names.
  std::vector<std::string> dns_names;  // The same.
  absl::Time not_before;
  absl::Time not_after;
  bool is_authority = false;
};
// Of the first certificate in `pem`, which has at most 64 KiB. INVALID_ARGUMENT when there is none, or it is damaged. Nothing
// is said of who signed it and whether the times have passed.
absl::StatusOr<CertificateFacts> ReadCertificate(absl::string_view pem);

// SHA-256 of the certificate's DER. INVALID_ARGUMENT as above.
absl::StatusOr<Digest> FingerprintOf(absl::string_view pem);

// INVALID_ARGUMENT unless `key`, in PEM, is the first certificate's.
absl::Status CheckKeyFits(absl::string_view key, absl::string_view certificate);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IDENTITY_CERTIFICATE_H_
