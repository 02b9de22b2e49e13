// Upstream over gRPC.
#ifndef SLIPWAY_SERVER_WEB_GRPC_UPSTREAM_H_
#define SLIPWAY_SERVER_WEB_GRPC_UPSTREAM_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/rpc/caller_proof.h"
#include "server/web/upstream.h"

namespace slipway::web {

struct UpstreamOptions {
  std::string server;     // HOST:PORT or unix:PATH.
  bool insecure = false;  // The server is called without TLS, and asks nobody who he is.
  std::string
      authority_file;  // Of others, that vouch for the server by its name; empty: it is its own authority.
};

// Whether the server asks who calls: otherwise tokens are slipway-web's own.
bool AsksWhoCalls(const UpstreamOptions& options);

// Connects with the token that is shown, to the server whose authority the token names (core/rpc/caller_proof.h): that is asked for once, and
// tokens of others are refused unasked then. Where the server asks nobody, all tokens do.
ConnectUpstream GrpcConnector(const UpstreamOptions& options);

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_GRPC_UPSTREAM_H_
