// The transport over gRPC.
#ifndef SLIPWAY_DEVICE_AGENT_GRPC_AGENT_TRANSPORT_H_
#define SLIPWAY_DEVICE_AGENT_GRPC_AGENT_TRANSPORT_H_

#include <memory>
#include <string>

#include "core/rpc/caller_proof.h"
#include "device_agent/agent_transport.h"

namespace slipway {

// `server` is HOST:PORT or unix:PATH. Connects when it is used, and again when the connection was lost.
std::unique_ptr<AgentTransport> MakeGrpcAgentTransport(const std::string& server,
                                                       const CallerProof& proof);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_GRPC_AGENT_TRANSPORT_H_
