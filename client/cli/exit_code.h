// How the command ends, and how a Status says so.
#ifndef SLIPWAY_CLIENT_CLI_EXIT_CODE_H_
#define SLIPWAY_CLIENT_CLI_EXIT_CODE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace slipway::cli {

enum class ExitCode : int {
  kDone = 0,
  kWorkFailed =
      1,  // A bad model or artifact, a failed or cancelled job. Of verbs that judge: the verdict is bad.
  kWrongCall = 2,    // Flags, verb, target, input: what was typed.
  kUnreachable = 3,  // No server or device there.
  kNoVerdict = 4,    // Of verbs that judge: the work failed, or too little is known for a verdict.
};

// The same status, for which the command ends with `code`.
absl::Status WithExitCode(absl::Status status, ExitCode code);

// What ends a verb that judges (`compare`, `gate`) before it has judged: kNoVerdict in place of kWorkFailed, so that scripts
// can tell a bad verdict from none. REQUIRES: not OK.
absl::Status WithoutVerdict(absl::Status status);

// INVALID_ARGUMENT that ends the command with kWrongCall.
absl::Status WrongCall(absl::string_view message);

// What was put in by WithExitCode; without it kUnreachable for UNAVAILABLE, kWrongCall for UNAUTHENTICATED
// (the token is a flag), else kWorkFailed.
ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_EXIT_CODE_H_
