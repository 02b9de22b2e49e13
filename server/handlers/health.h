// Whether services do their work, as gRPC's health protocol has it.
#ifndef SLIPWAY_SERVER_HANDLERS_HEALTH_H_
#define SLIPWAY_SERVER_HANDLERS_HEALTH_H_

#include <array>

#include "absl/strings/string_view.h"
#include "proto/grpc/health/v1/health.pb.h"
#include "server/handlers/environment.h"

namespace slipway::server {

// A service that does not do its work while something lacks.
struct HealthRow {
  absl::string_view service;  // "package.Service"; empty: the server as a whole.
  bool wants_memory;          // It begins what the server does not begin when memory is short.
  bool wants_store;           // It writes to the database.
};

// The others of the access table serve as long as the server does.
inline constexpr std::array<HealthRow, 8> kHealth = {{
    {"", true, true},
    {"slipway.v1.AgentService", false, true},
    {"slipway.v1.BlobService", true, false},
    {"slipway.v1.CompileService", true, true},
    {"slipway.v1.IdentityService", false, true},
    {"slipway.v1.RunService", true, true},
    {"slipway.v1.SessionService", true, true},
    {"slipway.v1.WorkerService", false, true},
}};

// SERVICE_UNKNOWN for one that is not in the access table (server/services/access.h).
grpc::health::v1::HealthCheckResponse::ServingStatus HealthOf(const Environment& env,
                                                              absl::string_view service);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_HEALTH_H_
