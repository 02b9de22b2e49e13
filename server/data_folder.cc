#include "server/data_folder.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/own_files.h"
#include "core/base/status_macros.h"
#include "core/identity/authority_file.h"

namespace slipway::server {
namespace {

constexpr absl::Duration kServerCertificateLifetime = absl::Hours(24 * 90);

}  // namespace

absl::StatusOr<FileLock> LockDataFolder(const std::string& folder, absl::string_view holder) {
  absl::StatusOr<FileLock> lock =
      FileLock::TryAcquire(JoinPath(folder, kLockName),
                           absl::StrCat(holder, ", process ", getpid()), FileLock::kTimeToLetGo);
  SLIPWAY_RETURN_IF_ERROR_WITH(
      lock.status(), absl::StrCat("the data folder '", folder, "' belongs to another server"));
  return lock;
}

absl::StatusOr<DataFolder> OpenDataFolder(const std::string& folder, absl::string_view holder,
                                          absl::Time now) {
  SLIPWAY_RETURN_IF_ERROR(MakeOwnFolder(folder));
  SLIPWAY_ASSIGN_OR_RETURN(FileLock lock, LockDataFolder(folder, holder));
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<CertificateAuthority> authority,
                           OpenAuthority(JoinPath(folder, kAuthorityName), now));
  SLIPWAY_RETURN_IF_ERROR(KeepServerIdentityIn(folder, *authority, now));
  return DataFolder{.lock = std::move(lock), .authority = std::move(authority)};
}

absl::Status KeepServerIdentityIn(const std::string& folder, const CertificateAuthority& authority,
                                  absl::Time now) {
  return KeepServerIdentity(authority, JoinPath(folder, kServerIdentityName), now,
                            kServerCertificateLifetime);
}

}  // namespace slipway::server
