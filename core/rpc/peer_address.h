// PeerAddress: where a connection comes from, as its socket and as gRPC tell it.
#ifndef SLIPWAY_CORE_RPC_PEER_ADDRESS_H_
#define SLIPWAY_CORE_RPC_PEER_ADDRESS_H_

#include <sys/socket.h>

#include <string>

#include "absl/strings/string_view.h"

namespace slipway {

// Address and port, in a form of no meaning to others; an IPv4 address mapped to IPv6 is the IPv4 address. Empty for what is neither.
std::string PeerAddress(const sockaddr_storage& name);

// The same of what grpc::ServerContext::peer says: "ipv4:1.2.3.4:5", "ipv6:%5B::1%5D:5".
std::string PeerAddressOf(absl::string_view grpc_peer);

// What grpc::ServerContext::peer would say of it, for connections that gRPC does not see. Empty for what is neither.
std::string GrpcPeerOf(const sockaddr_storage& name);

// The address of a machine, without a port, in a form of no meaning to others; that of "1.2.3.4" or "::1" as text. Empty for what is none.
std::string MachineOf(const sockaddr_storage& name);
std::string MachineOf(absl::string_view text);

// Whom a connection counts for, in a form of no meaning to others: its machine, or what IPv6 gives to one network at least. Empty for those of this
// machine, which are not told apart, and for what is neither.
std::string CountedFor(const sockaddr_storage& name);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_PEER_ADDRESS_H_
