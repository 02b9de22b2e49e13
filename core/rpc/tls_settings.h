// What holds for every TLS connection of the process, whichever library makes it.
#ifndef SLIPWAY_CORE_RPC_TLS_SETTINGS_H_
#define SLIPWAY_CORE_RPC_TLS_SETTINGS_H_

#include "absl/status/status.h"

namespace slipway {

// Has OpenSSL take them for whatever it sets up from now on, in place of those in its own file. gRPC has no argument for them. To be called once,
// before there are threads.
//
// TLS 1.3, keys of at least 112 bits, and no tickets (RFC 8446, section 4.6.1): nobody takes up a session by one, since what its certificate says
// is to be looked at each time, and to make two of them is a sixth of a server's work for a handshake.
absl::Status ApplyTlsSettings();

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_TLS_SETTINGS_H_
