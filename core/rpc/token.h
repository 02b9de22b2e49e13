// The token that a server's callers prove themselves with.
#ifndef SLIPWAY_CORE_RPC_TOKEN_H_
#define SLIPWAY_CORE_RPC_TOKEN_H_

#include <string>

#include "absl/status/statusor.h"

namespace slipway {

// The content of the file that --token-file names, without blanks around it; empty where `path` is. What a
// server takes, it and its callers read alike: INVALID_ARGUMENT for fewer than 16 characters or others than
// printable ASCII; errors of reading.
absl::StatusOr<std::string> ReadToken(const std::string& path);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_TOKEN_H_
