// What the server is doing, in sums.
#ifndef SLIPWAY_SERVER_HANDLERS_STATUS_H_
#define SLIPWAY_SERVER_HANDLERS_STATUS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "core/rpc/listener_counts.h"
#include "proto/slipway/v1/server.pb.h"
#include "server/caller.h"
#include "server/handlers/environment.h"

namespace slipway::server {

// What is known where calls come in.
struct FrontSums {
  ListenerCounts connections;
  int64_t max_connections = 0;
  int64_t waiting_calls = 0;
};

absl::Status GetServerStatus(const Environment& env, const FrontSums& front,
                             v1::ServerStatus* response);

absl::Status SetLogLevel(const Caller& caller, const Environment& env,
                         const v1::SetLogLevelRequest& request, v1::SetLogLevelResponse* response);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_STATUS_H_
