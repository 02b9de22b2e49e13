// Caller: on whose behalf a call is handled.
#ifndef SLIPWAY_SERVER_CALLER_H_
#define SLIPWAY_SERVER_CALLER_H_

#include <string>

#include "absl/time/time.h"
#include "core/identity/role.h"

namespace slipway::server {

// Made by Admission alone, and handed to whatever the call does.
struct Caller {
  std::string owner;                             // Whose the jobs are that it makes, sees and ends.
  RoleSet roles;                                 // What he may do.
  bool is_own_worker = false;                    // A worker process that this server has started.
  absl::Time deadline = absl::InfiniteFuture();  // Nobody waits for the answer after this.
  std::string request_id;  // The caller's name for this call, for logs; may be empty.
  std::string address;     // Where it came from.
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_CALLER_H_
