// Addresses that a server listens at.
#ifndef SLIPWAY_CORE_RPC_LISTEN_ADDRESS_H_
#define SLIPWAY_CORE_RPC_LISTEN_ADDRESS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

inline constexpr absl::string_view kUnixAddressPrefix = "unix:";

// "HOST:PORT" or "unix:PATH".
struct ListenAddress {
  std::string host;  // Empty for a unix socket.
  int port = 0;
  bool is_loopback = false;  // Only this machine can reach it.
};

// INVALID_ARGUMENT for an address that is neither of the two forms.
absl::StatusOr<ListenAddress> ParseListenAddress(absl::string_view text);

// Where a process of this machine reaches who listens at `address`.
std::string LocalAddress(const std::string& address);

// For who listens: PERMISSION_DENIED for an address that other machines reach, unless callers must show who they are (`asks_who`), by TLS or a token,
// or `is_insecure` says that this is meant. Errors of ParseListenAddress.
absl::Status CheckListen(absl::string_view address, bool asks_who, bool is_insecure);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_LISTEN_ADDRESS_H_
