// Where a server keeps its certificate authority, and what that has made for its own machine.
#ifndef SLIPWAY_CORE_IDENTITY_AUTHORITY_FILE_H_
#define SLIPWAY_CORE_IDENTITY_AUTHORITY_FILE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"

namespace slipway {

// The authority in the file at `path`; where there is none, a new one, kept there durably, its owner's alone. DATA_LOSS for a
// file that is damaged and PERMISSION_DENIED for one that others may read, saying what to do; errors of the files.
absl::StatusOr<std::unique_ptr<CertificateAuthority>> OpenAuthority(const std::string& path,
                                                                    absl::Time now);

// Writes the identity file at `path`, with a new key and the certificate that `sign` has the authority make for its request (DER).
// Errors of `sign` and of the file.
absl::Status MakeIdentity(
    const CertificateAuthority& authority, const std::string& path,
    absl::FunctionRef<absl::StatusOr<std::string>(absl::string_view request)> sign);

// The certificate in the identity file at `path`, if it may stay: it is this authority's, and more than a third of its time is left.
std::optional<CertificateFacts> ReadFresh(const std::string& path,
                                          const CertificateAuthority& authority, absl::Time now);

// Keeps the identity of the server at `path`: makes it, for `lifetime`, when there is none that may stay. Errors of the files.
absl::Status KeepServerIdentity(const CertificateAuthority& authority, const std::string& path,
                                absl::Time now, absl::Duration lifetime);

// Keeps what the server signs statements with at `path`, in the same way.
absl::Status KeepSignerIdentity(const CertificateAuthority& authority, const std::string& path,
                                absl::Time now, absl::Duration lifetime);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IDENTITY_AUTHORITY_FILE_H_
