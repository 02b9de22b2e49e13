// What lies in the data folder of a server.
#ifndef SLIPWAY_SERVER_DATA_FOLDER_H_
#define SLIPWAY_SERVER_DATA_FOLDER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/files.h"
#include "core/identity/certificate_authority.h"

namespace slipway::server {

inline constexpr char kDatabaseName[] = "jobs.sqlite";
inline constexpr char kLockName[] = "lock";
// The secret of the server's own workers, anew at every start.
inline constexpr char kWorkerTokenName[] = "worker-token";
// Who the server is towards its callers, and its own workers towards it; identity files (core/identity).
inline constexpr char kServerIdentityName[] = "server.pem";
inline constexpr char kWorkerIdentityName[] = "worker.pem";
// What the server signs statements with; an identity file.
inline constexpr char kSignerIdentityName[] = "signer.pem";
// Key and certificate of the server's authority; secret. All who have joined are known by it.
inline constexpr char kAuthorityName[] = "authority.pem";
// What agents are offered (AgentOffers).
inline constexpr char kAgentOffersName[] = "agent-offers";
// What slipwayd check took out of the rest, as it was.
inline constexpr char kLostName[] = "lost+found";

// The folder is `holder`'s alone until the lock ends. FAILED_PRECONDITION names who has it.
absl::StatusOr<FileLock> LockDataFolder(const std::string& folder, absl::string_view holder);

// What makes a folder a server's.
struct DataFolder {
  FileLock lock;
  std::unique_ptr<CertificateAuthority> authority;
};
// The folder, ours alone as above; with an authority and the server's identity, which are made where they are missing.
// Errors of OpenAuthority and KeepServerIdentity (core/identity/authority_file.h).
absl::StatusOr<DataFolder> OpenDataFolder(const std::string& folder, absl::string_view holder,
                                          absl::Time now);

// KeepServerIdentity in an open folder.
absl::Status KeepServerIdentityIn(const std::string& folder, const CertificateAuthority& authority,
                                  absl::Time now);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_DATA_FOLDER_H_
