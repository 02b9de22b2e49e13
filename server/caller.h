// Caller: on whose behalf a call is handled.
#ifndef SLIPWAY_SERVER_CALLER_H_
#define SLIPWAY_SERVER_CALLER_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/identity/role.h"

namespace slipway::server {

// Made by Admission alone, and handed to whatever the call does.
struct Caller {
  std::string owner;  // Whose the jobs are that it makes.
  RoleSet roles;      // What he may do.
  std::string
      identity;  // The id of his record; empty for who came by a unix socket, or was not asked.
  // The user whom the server runs as: over a unix socket, by an identity of the server's own, or as everybody who is not asked.
  bool is_own_user = false;
  bool is_own_worker = false;                    // A worker process that this server has started.
  absl::Time deadline = absl::InfiniteFuture();  // Nobody waits for the answer after this.
  std::string request_id;  // The caller's name for this call, for logs; may be empty.
  std::string address;     // Where it came from.
};

// Whether he may see and end the jobs of `owner`.
inline bool MayTouch(const Caller& caller, absl::string_view owner) {
  return caller.owner == owner || caller.roles.Has(Role::kAdmin);
}

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_CALLER_H_
