// Identity files: how a program knows who it is towards a server. Key, certificate and the server's authority, in PEM one
// after the other; its owner's alone (mode 0600).
#ifndef SLIPWAY_CORE_IDENTITY_IDENTITY_FILE_H_
#define SLIPWAY_CORE_IDENTITY_IDENTITY_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/identity/certificate.h"
#include "core/identity/role.h"

namespace slipway {

struct Identity {
  std::string key;          // PEM; secret.
  std::string certificate;  // PEM: the certificate alone.
  std::string authority;    // PEM: the certificate of who signed it.
};

// Makes missing folders (mode 0700), writes whole or not at all, durably. INVALID_ARGUMENT unless each is one block of PEM, as
// core/identity writes it, and they belong together. Errors of the files.
absl::Status WriteIdentity(const std::string& path, const Identity& identity);
// NOT_FOUND when there is no file; PERMISSION_DENIED when others may read it (core/base/own_files.h); DATA_LOSS for what
// WriteIdentity has not written. Errors of the files; RESOURCE_EXHAUSTED for one of more than 64 KiB.
absl::StatusOr<Identity> ReadIdentity(const std::string& path);

// Where this user's identity towards a server is: $XDG_CONFIG_HOME/slipway/servers/ADDRESS/ROLE.pem, ~/.config where the
// variable is not set. An address has one spelling there: "localhost" is 127.0.0.1, letters are lower case. FAILED_PRECONDITION
// without a home; INVALID_ARGUMENT for an address that is not HOST:PORT, where HOST is a name, or an IPv6 address in brackets.
absl::StatusOr<std::string> IdentityPath(absl::string_view address, Role role);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IDENTITY_IDENTITY_FILE_H_
