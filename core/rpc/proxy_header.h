// The header by which a proxy says where a connection that it passes on comes from: the PROXY protocol, version 2, in binary.
#ifndef SLIPWAY_CORE_RPC_PROXY_HEADER_H_
#define SLIPWAY_CORE_RPC_PROXY_HEADER_H_

#include <sys/socket.h>

#include <cstddef>

#include "absl/strings/string_view.h"

namespace slipway {

// What the protocol wants receivers to take in one go, and more than two addresses and what proxies add to them.
inline constexpr size_t kMaxProxyHeaderBytes = 536;

enum class ProxyHeaderKind {
  kIncomplete,  // More bytes are wanted.
  kWhole,
  kRefused,  // Anything else: another version, no TCP, too long.
};

struct ProxyHeaderView {
  ProxyHeaderKind kind = ProxyHeaderKind::kRefused;
  size_t wanted =
      0;  // Of kIncomplete: how many bytes there must be before it is worth looking again.
  size_t size = 0;  // Of kWhole: what comes after as many bytes is the connection's.
  // Of kWhole: where the connection comes from; AF_UNSPEC when it is the proxy's own, such as to see whether we live.
  sockaddr_storage source = {};
};

// `bytes` are the first of a connection, as many as have come.
ProxyHeaderView ReadProxyHeader(absl::string_view bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_PROXY_HEADER_H_
