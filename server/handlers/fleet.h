// FleetService and ServerService: what is there.
#ifndef SLIPWAY_SERVER_HANDLERS_FLEET_H_
#define SLIPWAY_SERVER_HANDLERS_FLEET_H_

#include "absl/status/status.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/server.pb.h"
#include "server/caller.h"
#include "server/handlers/environment.h"

namespace slipway::server {

absl::Status ListDevices(const Caller& caller, const Environment& env,
                         const v1::ListDevicesRequest& request, v1::ListDevicesResponse* response);
absl::Status SetDeviceLabels(const Caller& caller, const Environment& env,
                             const v1::SetDeviceLabelsRequest& request,
                             v1::SetDeviceLabelsResponse* response);
absl::Status ListWorkers(const Caller& caller, const Environment& env,
                         v1::ListWorkersResponse* response);
absl::Status GetServerInfo(const Caller& caller, const Environment& env, v1::ServerInfo* response);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_FLEET_H_
