// What an agent does next, given what it holds and what the server wants.
#ifndef SLIPWAY_DEVICE_AGENT_RECONCILE_H_
#define SLIPWAY_DEVICE_AGENT_RECONCILE_H_

#include <map>
#include <string>
#include <vector>

#include "proto/slipway/v1/agent.pb.h"

namespace slipway {

// The attempts an agent holds, by id.
using HeldAttempts = std::map<std::string, v1::RunAttemptState>;

struct AgentActions {
  // Attempts to begin; at most one, since a device does one thing at a time. Indices into the
  // desired state's attempts.
  std::vector<int> start;
  // Attempts under way that are no longer wanted.
  std::vector<std::string> stop;
  // Ended attempts that are no longer wanted.
  std::vector<std::string> forget;
};

// Whether the attempt is still under way.
bool IsActive(const v1::RunAttemptState& attempt);

// Pure. An attempt that is wanted and not held begins once nothing else is under way.
AgentActions Reconcile(const HeldAttempts& held, const v1::DesiredAgentState& desired);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_RECONCILE_H_
