// The token that a server's callers prove themselves with.
#ifndef SLIPWAY_CORE_RPC_TOKEN_H_
#define SLIPWAY_CORE_RPC_TOKEN_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

// The content of the file that --token-file names, without blanks around it; empty where `path` is. What a
// server takes, it and its callers read alike: INVALID_ARGUMENT for fewer than 16 characters or others than
// printable ASCII; PERMISSION_DENIED for a file that is no secret (core/base/own_files.h); errors of reading.
absl::StatusOr<std::string> ReadToken(const std::string& path);

// 128 random bits as 32 hexadecimal digits, which nobody guesses.
std::string NewSecret();

// Compares in a time that depends on the length of `given` alone.
bool IsSameSecret(absl::string_view secret, absl::string_view given);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_TOKEN_H_
