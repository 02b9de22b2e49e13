// RunServerSession: an attempt that is a session: the device is its client's until the lease ends.
#ifndef SLIPWAY_DEVICE_AGENT_SESSION_SERVER_SESSION_H_
#define SLIPWAY_DEVICE_AGENT_SESSION_SERVER_SESSION_H_

#include <functional>
#include <stop_token>

#include "device_agent/agent_transport.h"
#include "device_agent/session/leased_session.h"
#include "device_agent/session/session_host.h"
#include "device_agent/session/session_terms.h"
#include "proto/slipway/v1/agent.pb.h"

namespace slipway {

// Hosts the session of `assignment` and keeps a connection to it open through the server, until the session ends or
// `stop`; meanwhile it is `leased`'s. `place` says what device it is. SUCCEEDED when the client closed the session, STOPPED
// after `stop`, FAILED with why its lease ended otherwise: also when `stop` comes because the agent goes away, which is
// then asked for before.
v1::RunAttemptState RunServerSession(
    const v1::RunAssignment& assignment, const SessionTerms& place, const SessionTools& tools,
    AgentTransport& transport, LeasedSession& leased,
    const std::function<void(const v1::RunAttemptState&)>& observer, std::stop_token stop,
    const std::stop_token& goes_away);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_SESSION_SERVER_SESSION_H_
