// Joining a server: a code is exchanged for an identity, once.
#ifndef SLIPWAY_CORE_RPC_JOIN_H_
#define SLIPWAY_CORE_RPC_JOIN_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/identity/role.h"

namespace slipway {

struct Joined {
  std::string name;  // What the server's administrator calls it.
  std::string path;  // Of the identity file.
};

// Joins the server at HOST:PORT as `role` with a code of its administrator, and writes the identity to `path`; empty: where
// FindProof looks for it. The key is made here and goes nowhere. Errors of IdentityPath, JoinCode::Parse and KnockAtJoinDoor, and what the server says: UNAUTHENTICATED for a code that is not, or no longer, good.
absl::StatusOr<Joined> JoinServer(const std::string& address, absl::string_view code, Role role,
                                  const std::string& path = "");

// What the verb `join` of a program does: takes `ADDRESS CODE` and --identity, and tells on `out` what came of it. `argv` begins with the verb.
// Returns the program's exit code: 0, 1 when it could not join, 2 for a wrong call.
int JoinMain(absl::string_view program, Role role, int argc, char** argv);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_JOIN_H_
