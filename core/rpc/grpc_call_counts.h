// What gRPC counts of the calls that others make to the servers of this process, as its channelz tells. Unlike handlers, these numbers
// know of a call from the moment at which its first bytes were read.
#ifndef SLIPWAY_CORE_RPC_GRPC_CALL_COUNTS_H_
#define SLIPWAY_CORE_RPC_GRPC_CALL_COUNTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace slipway {

// Of one connection that was made to a server.
struct SocketCalls {
  std::string address;      // Where it comes from, as grpc::ServerContext::peer tells.
  std::string certificate;  // Of who made it, in PEM; empty: he has shown none.
  int64_t open = 0;         // For which gRPC holds anything.
  int64_t broken_off = 0;   // Ended without an answer.
};

// The numbers of the servers that this process has. gRPC looks for them among all that it counts for: takes some 100 ns for each
// connection.
std::vector<int64_t> CountedServers();
// Of these servers: calls that have begun and not, or not yet, succeeded. Takes 50 us.
int64_t CallsInVain(absl::Span<const int64_t> servers);
// Of all connections to all servers; takes some 10 us for each.
std::vector<SocketCalls> ReadSocketCalls();

// The number that stands in a channelz message under `key`; 0 when there is none, as channelz leaves zeroes out.
int64_t ChannelzNumber(absl::string_view json, absl::string_view key);
// What is told of a connection by grpc_channelz_get_socket.
SocketCalls ReadSocketMessage(absl::string_view json);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_GRPC_CALL_COUNTS_H_
