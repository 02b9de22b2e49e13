// Caller: on whose behalf a call is handled.
#ifndef SLIPWAY_SERVER_CALLER_H_
#define SLIPWAY_SERVER_CALLER_H_

#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"

namespace slipway::server {

// What somebody may do.
enum class Role {
  kUser,    // Make jobs, and see and end those of the same owner.
  kAgent,   // Report a device and work on it for everybody.
  kWorker,  // Compile for everybody.
};

// Made by Admission alone, and handed to whatever the call does.
struct Caller {
  std::string owner;  // Whose the jobs are that it makes, sees and ends.
  absl::flat_hash_set<Role> roles;
  absl::Time deadline = absl::InfiniteFuture();  // Nobody waits for the answer after this.
  std::string request_id;  // The caller's name for this call, for logs; may be empty.
  std::string address;     // Where it came from.
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_CALLER_H_
