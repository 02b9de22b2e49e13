// How the command ends, and how a Status says so.
#ifndef SLIPWAY_CLIENT_CLI_EXIT_CODE_H_
#define SLIPWAY_CLIENT_CLI_EXIT_CODE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace slipway::cli {

enum class ExitCode : int {
  kDone = 0,
  kWorkFailed = 1,   // A bad model or artifact, a failed or cancelled job.
  kWrongCall = 2,    // Flags, verb, target, input: what was typed.
  kUnreachable = 3,  // No server or device there.
};

// The same status, for which the command ends with `code`.
absl::Status WithExitCode(absl::Status status, ExitCode code);

// INVALID_ARGUMENT that ends the command with kWrongCall.
absl::Status WrongCall(absl::string_view message);

// What was put in by WithExitCode; without it kUnreachable for UNAVAILABLE, kWrongCall for UNAUTHENTICATED
// (the token is a flag), else kWorkFailed.
ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_EXIT_CODE_H_
