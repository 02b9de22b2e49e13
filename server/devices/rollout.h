// Rollout: which agents are told of an offer now, and how far it is. Pure.
//
// So few at a time, and no other once so many have given it up, that a bad binary does not take the fleet: with the defaults, one.
#ifndef SLIPWAY_SERVER_DEVICES_ROLLOUT_H_
#define SLIPWAY_SERVER_DEVICES_ROLLOUT_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/slipway/v1/fleet.pb.h"

namespace slipway::server {

// An agent that the offer is for.
struct RolloutAgent {
  std::string key;         // Of names.h.
  std::string device;      // By its id.
  v1::AgentUpdate update;  // What it said last.
  bool is_lost = false;
  bool was_told = false;  // Of this offer, by the plan before this.
};

struct RolloutPlan {
  v1::AgentRollout rollout;
  std::vector<std::string> told;  // Keys.
};

// Those that take it or were told stay told, whatever becomes of others. One that was told and is lost before it has said that it
// takes it makes place; one that is lost while it takes it does not: the offer may be why.
RolloutPlan PlanRollout(const v1::AgentOffer& offer, absl::Span<const RolloutAgent> agents);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_DEVICES_ROLLOUT_H_
