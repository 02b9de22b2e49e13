// Addresses of servers, and of agents that listen.
#ifndef SLIPWAY_CLIENT_ADDRESS_H_
#define SLIPWAY_CLIENT_ADDRESS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace slipway {

// INVALID_ARGUMENT for what is neither HOST:PORT nor unix:PATH of a length that the system allows.
absl::Status CheckAddress(absl::string_view address);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_ADDRESS_H_
