#include "device_agent/own_door.h"

#include <memory>
#include <utility>

#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/identity/authority_file.h"
#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"
#include "core/identity/identity_file.h"
#include "core/identity/identity_id.h"
#include "core/rpc/listen_address.h"

namespace slipway {
namespace {

// Agents run for years, and nobody renews these meanwhile.
constexpr absl::Duration kLifetime = absl::Hours(24 * 3650);

absl::StatusOr<std::unique_ptr<CertificateAuthority>> Authority(const std::string& state_folder,
                                                                absl::Time now) {
  return OpenAuthority(JoinPath(state_folder, "authority.pem"), now);
}

}  // namespace

absl::StatusOr<std::string> KeepAgentIdentity(const std::string& state_folder, absl::Time now) {
  SLIPWAY_ASSIGN_OR_RETURN(const auto authority, Authority(state_folder, now));
  std::string path = JoinPath(state_folder, "agent.pem");
  SLIPWAY_RETURN_IF_ERROR(KeepServerIdentity(*authority, path, now, kLifetime));
  return path;
}

absl::StatusOr<std::string> KeepUserIdentity(const std::string& state_folder,
                                             const std::string& address, absl::Time now) {
  SLIPWAY_ASSIGN_OR_RETURN(const auto authority, Authority(state_folder, now));
  SLIPWAY_ASSIGN_OR_RETURN(std::string path, IdentityPath(LocalAddress(address), Role::kUser));
  if (ReadFresh(path, *authority, now).has_value()) return path;
  SLIPWAY_RETURN_IF_ERROR(MakeIdentity(*authority, path, [&](absl::string_view request) {
    return authority->SignCaller(request, NewIdentityId(), kOwnIdentityName, now, kLifetime);
  }));
  return path;
}

}  // namespace slipway
