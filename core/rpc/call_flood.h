// CallFlood: finds callers who begin and cancel calls faster than anybody does who means them. A server of HTTP/2 does its work for a call
// before it hears that nobody wants it, and gRPC 1.51 holds memory for each until it has done so: whoever resets streams without end makes
// it hold gigabytes. What is known of calls is what gRPC counts on each connection (grpc_call_counts.h); handlers hear of them too late.
#ifndef SLIPWAY_CORE_RPC_CALL_FLOOD_H_
#define SLIPWAY_CORE_RPC_CALL_FLOOD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace slipway {

// What one caller may do over all of his connections.
struct CallFloodLimits {
  // Calls that are open at a time, besides those that every connection may have. A fleet of agents has a few on each connection, and who has
  // more on one is held to as many by the server's settings (kMostCallsOfConnection). gRPC takes some 13 KB for each.
  int64_t open = 5'000;
  int64_t open_of_each = 4;
  // Calls that end otherwise than by their answer: so many at once, and so many a second in the long run.
  int64_t broken_off = 5'000;
  int64_t broken_off_each_second = 500;
};

// Of one connection, since it began.
struct ConnectionCalls {
  std::string connection;  // Its name, which no other has.
  std::string caller;      // Whom it counts for.
  int64_t open = 0;        // Now.
  int64_t broken_off = 0;
};

// Not thread-safe. Times are of a clock that only rises.
class CallFlood {
 public:
  explicit CallFlood(const CallFloodLimits& limits) : limits_(limits) {}

  // Takes in how it is with all connections; the callers who are beyond a limit. What a connection that was not there at the last look has
  // broken off counts only from then on: nobody knows since when it is there.
  std::vector<std::string> Look(absl::Duration now, absl::Span<const ConnectionCalls> connections);

 private:
  const CallFloodLimits limits_;
  absl::Duration looked_ = -absl::InfiniteDuration();
  absl::flat_hash_map<std::string, int64_t> broken_off_;  // At the last look, by connection.
  absl::flat_hash_map<std::string, double> owed_;         // By caller; none is 0.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_CALL_FLOOD_H_
