// What an agent does next, given what it holds and what the server wants.
#ifndef SLIPWAY_DEVICE_AGENT_RECONCILE_H_
#define SLIPWAY_DEVICE_AGENT_RECONCILE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
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
  // The offer is to be taken: the agent takes such, has not given this one up, holds no attempt that it does not forget, and is to
  // hold none.
  bool takes_offer = false;
};

// Whether the attempt is still under way.
bool IsActive(const v1::RunAttemptState& attempt);

// Pure. Whether the agent must notice soon if its connection leads nowhere any more (AgentTransport::NewSync), given whether it had to
// before: from a report of something under way until the server has taken in its end. What ended before it was ever reported goes back over
// the connection by which it has just come; that a second one is made for it would double what a fleet of short runs keeps open.
bool IsAtStake(const HeldAttempts& held, bool was_at_stake);

// Pure. For how long an agent stays away from a server that it has lost, by a call that ended in `status`, before it tries to come back:
// `share`, from 0 to 1, of the time that `desired`, the last of it, asks agents to spread their return over, and a minute at most. Zero for who
// holds something, since its end is waited for.
absl::Duration TimeAway(const absl::Status& status, const HeldAttempts& held,
                        const v1::DesiredAgentState& desired, double share);

// Pure. An attempt that is wanted and not held begins once nothing else is under way. `update` is what an agent that takes offers
// says of itself; null: it takes none.
AgentActions Reconcile(const HeldAttempts& held, const v1::DesiredAgentState& desired,
                       const v1::AgentUpdate* update = nullptr);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_RECONCILE_H_
