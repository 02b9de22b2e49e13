// Certificates that an authority of somebody else has made, public or a company's, in files that their owner replaces when he likes.
#ifndef SLIPWAY_CORE_IDENTITY_GIVEN_CERTIFICATE_H_
#define SLIPWAY_CORE_IDENTITY_GIVEN_CERTIFICATE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace slipway {

// Files of more bytes are refused unread: those that systems ship for all public authorities have a quarter.
inline constexpr int64_t kMaxAuthoritiesBytes = 1 << 20;

enum class CertificateUse { kServer, kCaller };

// A certificate, with those between it and its authority, and its key, both in PEM; they may be in one file.
struct GivenCertificate {
  std::string
      chain;  // All of `certificate_file` from its first certificate on, as far as it is certificates.
  std::string key;  // Secret.
};

// OK when the first certificate in `certificate_file` is good for that use at `now`, and the key in `key_file` is its own. Else
// FAILED_PRECONDITION, which names the file and says what to do; PERMISSION_DENIED when others may read the key (core/base/own_files.h);
// errors of the files.
absl::StatusOr<GivenCertificate> ReadGivenCertificate(const std::string& certificate_file,
                                                      const std::string& key_file,
                                                      CertificateUse use, absl::Time now);

// The PEM of one or more authorities, of which one at least is good at `now`. Errors as above.
absl::StatusOr<std::string> ReadGivenAuthorities(const std::string& file, absl::Time now);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IDENTITY_GIVEN_CERTIFICATE_H_
