// What agents are offered: the file that is one, and values to and from protocol buffers.
#ifndef SLIPWAY_CLIENT_AGENT_OFFERS_H_
#define SLIPWAY_CLIENT_AGENT_OFFERS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/types.h"
#include "core/base/agent_stamp.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/queue.pb.h"

namespace slipway {

struct AgentBinary {
  Blob contents;
  Digest digest;
  AgentStamp stamp;
};

// INVALID_ARGUMENT when the file is no binary of the agent, or too large for one; errors of reading it.
absl::StatusOr<AgentBinary> ReadAgentBinary(const std::string& path);

v1::OfferAgentRequest ToProto(const AgentOfferOptions& options, const AgentBinary& binary);

// INTERNAL when the server's answer is none.
absl::StatusOr<AgentOffer> AgentOfferFromProto(const v1::AgentOffer& proto);
absl::StatusOr<std::vector<AgentRollout>> RolloutsFromProto(
    const v1::ListAgentOffersResponse& proto);
absl::StatusOr<std::optional<AgentUpdate>> AgentUpdateFromProto(const v1::Device& proto);

v1::SetAvailabilityRequest::Action ActionToProto(DeviceAction action);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_AGENT_OFFERS_H_
