// Where a server keeps its certificate authority.
#ifndef SLIPWAY_SERVER_IDENTITIES_AUTHORITY_FILE_H_
#define SLIPWAY_SERVER_IDENTITIES_AUTHORITY_FILE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/identity/certificate_authority.h"

namespace slipway::server {

// The authority in the file at `path`; where there is none, a new one, kept there durably, its owner's alone. DATA_LOSS for a
// file that is damaged and PERMISSION_DENIED for one that others may read, saying what to do; errors of the files.
absl::StatusOr<std::unique_ptr<CertificateAuthority>> OpenAuthority(const std::string& path,
                                                                    absl::Time now);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_IDENTITIES_AUTHORITY_FILE_H_
