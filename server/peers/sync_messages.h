// The two doors by which peers come, AgentService and WorkerService, made one: their messages read as reports, and
// the state that is wanted written as their answers. What a peer sends is hostile until it was read here.
#ifndef SLIPWAY_SERVER_PEERS_SYNC_MESSAGES_H_
#define SLIPWAY_SERVER_PEERS_SYNC_MESSAGES_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/worker.pb.h"
#include "server/peers/report.h"

namespace slipway::server {

// INVALID_ARGUMENT names what is malformed; FAILED_PRECONDITION when no common version of the protocol is spoken.
absl::StatusOr<Report> ReadReport(const v1::AgentState& state, absl::string_view address);
absl::StatusOr<Report> ReadReport(const v1::WorkerState& state, absl::string_view address);

void WriteDesired(const DesiredState& desired, v1::DesiredAgentState* answer);
void WriteDesired(const DesiredState& desired, v1::DesiredWorkerState* answer);

// What a device that was kept from before offers; errors as of ReadReport.
absl::StatusOr<DeviceSupply> ReadSupply(const v1::Device& device);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_PEERS_SYNC_MESSAGES_H_
