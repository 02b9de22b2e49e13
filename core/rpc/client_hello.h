// ClientHello: the first message of a TLS connection (RFC 8446, sections 4.1.2 and 5.1), read without taking it, so that a
// connection costs nothing until it is known what for it is made.
#ifndef SLIPWAY_CORE_RPC_CLIENT_HELLO_H_
#define SLIPWAY_CORE_RPC_CLIENT_HELLO_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace slipway {

// Those of today have 300 to 2,000 bytes.
inline constexpr size_t kMaxClientHelloBytes = 8 << 10;

// What a client wants to speak, by ALPN (RFC 7301): gRPC's name for HTTP/2, and ours for join_door.h.
inline constexpr char kHttp2Protocol[] = "h2";
inline constexpr char kJoinProtocol[] = "slipway-join/1";

enum class HelloKind {
  kIncomplete,  // More bytes are wanted.
  kCall,        // TLS 1.3 and HTTP/2.
  kJoin,        // TLS 1.3 and our own protocol.
  kRefused,     // Anything else: not TLS, an older version, another protocol, too long.
};

struct HelloView {
  HelloKind kind = HelloKind::kRefused;
  size_t wanted =
      0;  // Of kIncomplete: how many bytes there must be, in all, before it is worth looking again.
  // Of kCall: by what name the server is called (RFC 6066, section 3); empty: by none.
  std::string server_name = "";
};

// `bytes` are the first of a connection, as many as have come.
HelloView ReadClientHello(absl::string_view bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_CLIENT_HELLO_H_
