// What an administrator asks a running server for: slipwayd invite, token, identities, revoke, loglevel.
#ifndef SLIPWAY_SERVER_GRPC_ADMIN_VERBS_H_
#define SLIPWAY_SERVER_GRPC_ADMIN_VERBS_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace slipway::server {

struct AdminOutput {
  std::ostream& out;  // What was asked for, for whatever comes behind a pipe.
  std::ostream& err;  // What people want to know besides.
};

// Each is run with the arguments after its name. INVALID_ARGUMENT when it was called wrongly, or the server says so; errors of
// finding out who calls (core/rpc/caller_proof.h) and of the call. --help is written to `out`.
absl::Status InviteVerb(absl::Span<const std::string> arguments, AdminOutput output);
absl::Status TokenVerb(absl::Span<const std::string> arguments, AdminOutput output);
absl::Status IdentitiesVerb(absl::Span<const std::string> arguments, AdminOutput output);
absl::Status RevokeVerb(absl::Span<const std::string> arguments, AdminOutput output);
absl::Status LogLevelVerb(absl::Span<const std::string> arguments, AdminOutput output);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_GRPC_ADMIN_VERBS_H_
